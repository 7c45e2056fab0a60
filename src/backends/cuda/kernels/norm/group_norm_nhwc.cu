// Norms of groups of channels over images with their channels innermost. `moments`: sums over the pixels of a part of an image, by channel,
// of what is beyond the image's first pixel, so that no digits are lost where the mean is large. `apply`: what follows for each group, then
// every element as one multiplication and one addition, and the epilogue. Channels of one group are put together by Chan's formula (1979).
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/norm/group_norm_nhwc.cpp prints those of a problem
#define IN u16
#define OUT u16
#define LOAD(e) from_f16(e)
#define CHANNELS 64
#define GROUPS 8
#define EPSILON 1e-5f
#define THREADS 256
#define EPILOGUE y[v] = to_f16(x);
#endif

#include "backends/cuda/kernels/norm/group_norm_nhwc_args.h"

using namespace tenfold::backends::cuda;

// How a block lies over pixels and channels: LANES threads side by side, each with PER vectors of WIDTH channels, in ROWS rows of pixels.
template <int WIDTH> struct Block {
  static constexpr int VECTORS = CHANNELS / WIDTH, LANES = VECTORS < THREADS ? VECTORS : THREADS, PER = (VECTORS + LANES - 1) / LANES,
                       ROWS = THREADS / LANES;
};

template <int WIDTH> __device__ __forceinline__ void sum_up(const GroupNormNhwcArguments& a) {
  using B = Block<WIDTH>;
  __shared__ float sums[2][B::ROWS * B::PER * B::LANES * WIDTH];
  enter();
  const int lane = threadIdx.x % B::LANES, row = threadIdx.x / B::LANES;
  const IN* image = (const IN*)a.x + (i64)blockIdx.y * a.pixels * CHANNELS;
  const i64 begin = (i64)blockIdx.x * a.split, end = min(begin + a.split, a.pixels);
  float first[B::PER][WIDTH], sum[B::PER][WIDTH] = {}, squares[B::PER][WIDTH] = {};
  #pragma unroll
  for (int k = 0; k < B::PER; ++k) {
    const int vector = lane + k * B::LANES;
    IN e[WIDTH] = {};
    if (vector < B::VECTORS) read<WIDTH>(image + vector * WIDTH, e);
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) first[k][v] = LOAD(e[v]);
  }
  for (i64 pixel = begin + row; row < B::ROWS && pixel < end; pixel += B::ROWS) {
    #pragma unroll
    for (int k = 0; k < B::PER; ++k) {
      const int vector = lane + k * B::LANES;
      if (vector >= B::VECTORS) continue;
      IN e[WIDTH];
      read<WIDTH>(image + pixel * CHANNELS + vector * WIDTH, e);
      #pragma unroll
      for (int v = 0; v < WIDTH; ++v) {
        const float beyond = LOAD(e[v]) - first[k][v];
        sum[k][v] += beyond, squares[k][v] += beyond * beyond;
      }
    }
  }
  if (row < B::ROWS) {
    #pragma unroll
    for (int k = 0; k < B::PER; ++k)
      #pragma unroll
      for (int v = 0; v < WIDTH; ++v) {
        const int at = ((row * B::PER + k) * B::LANES + lane) * WIDTH + v;
        sums[0][at] = sum[k][v], sums[1][at] = squares[k][v];
      }
  }
  __syncthreads();
  float* partial = a.partial + ((i64)blockIdx.y * a.splits + blockIdx.x) * 2 * CHANNELS;
  for (int channel = threadIdx.x; channel < CHANNELS; channel += THREADS) {
    const int vector = channel / WIDTH, at = (vector / B::LANES * B::LANES + vector % B::LANES) * WIDTH + channel % WIDTH;
    float s = 0, q = 0;
    for (int r = 0; r < B::ROWS; ++r) s += sums[0][r * B::PER * B::LANES * WIDTH + at], q += sums[1][r * B::PER * B::LANES * WIDTH + at];
    partial[channel] = s, partial[CHANNELS + channel] = q;
  }
}

// A factor and an addend for each channel of the block's image.
__device__ __forceinline__ void settle(const GroupNormNhwcArguments& a, float* factor, float* addend) {
  constexpr int kEach = CHANNELS / GROUPS, kWarps = THREADS / 32;
  const IN* image = (const IN*)a.x + (i64)blockIdx.y * a.pixels * CHANNELS;
  const float* partial = a.partial + (i64)blockIdx.y * a.splits * 2 * CHANNELS;
  const float pixels = (float)a.pixels;
  for (int channel = threadIdx.x; channel < CHANNELS; channel += THREADS) {
    float s = 0, q = 0;
    for (i64 split = 0; split < a.splits; ++split)
      s += partial[split * 2 * CHANNELS + channel], q += partial[(split * 2 + 1) * CHANNELS + channel];
    factor[channel] = LOAD(image[channel]) + s / pixels;      // the channel's mean, for now ...
    addend[channel] = fmaxf(q - s / pixels * s, 0.f);         // ... and its squares around that
  }
  __syncthreads();
  for (int group = threadIdx.x / 32; group < GROUPS; group += kWarps) {
    float mean = 0, squares = 0;
    for (int c = threadIdx.x % 32; c < kEach; c += 32) mean += factor[group * kEach + c];
    mean = over_warp<Sum>(mean) / (float)kEach;
    for (int c = threadIdx.x % 32; c < kEach; c += 32) {
      const float apart = factor[group * kEach + c] - mean;
      squares += addend[group * kEach + c] + pixels * apart * apart;
    }
    const float inverse = rsqrtf(over_warp<Sum>(squares) / (pixels * (float)kEach) + EPSILON);
    __syncwarp();
    for (int c = threadIdx.x % 32; c < kEach; c += 32) {
      const int channel = group * kEach + c;
      const float f = LOAD(((const IN*)a.scale)[channel]) * inverse;
      factor[channel] = f, addend[channel] = LOAD(((const IN*)a.bias)[channel]) - mean * f;
    }
  }
  __syncthreads();
}

template <int WIDTH> __device__ __forceinline__ void compute(const GroupNormNhwcArguments& a) {
  using B = Block<WIDTH>;
  __shared__ float factors[CHANNELS], addends[CHANNELS];
  enter();
  settle(a, factors, addends);
  const int lane = threadIdx.x % B::LANES, row = threadIdx.x / B::LANES;
  if (row >= B::ROWS) return;
  const i64 offset = (i64)blockIdx.y * a.pixels * CHANNELS, begin = (i64)blockIdx.x * a.part, end = min(begin + a.part, a.pixels);
  #pragma unroll
  for (int k = 0; k < B::PER; ++k) {
    const int vector = lane + k * B::LANES;
    if (vector >= B::VECTORS) continue;
    float factor[WIDTH], addend[WIDTH];
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) factor[v] = factors[vector * WIDTH + v], addend[v] = addends[vector * WIDTH + v];
    for (i64 pixel = begin + row; pixel < end; pixel += B::ROWS) {
      const i64 at = offset + pixel * CHANNELS + vector * WIDTH;
      IN e[WIDTH];
      OUT y[WIDTH];
      read<WIDTH>((const IN*)a.x + at, e);
      #pragma unroll
      for (int v = 0; v < WIDTH; ++v) {
        const float x = fmaf(LOAD(e[v]), factor[v], addend[v]);
        EPILOGUE
      }
      write<WIDTH>((OUT*)a.y + at, y);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) moments_vectors(const GroupNormNhwcArguments a) { sum_up<8>(a); }
extern "C" __global__ void __launch_bounds__(THREADS) moments_singles(const GroupNormNhwcArguments a) { sum_up<1>(a); }
extern "C" __global__ void __launch_bounds__(THREADS) apply_vectors(const GroupNormNhwcArguments a) { compute<8>(a); }
extern "C" __global__ void __launch_bounds__(THREADS) apply_singles(const GroupNormNhwcArguments a) { compute<1>(a); }
