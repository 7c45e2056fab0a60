// Convolutions of single positions with few filters: LANES lanes share a position, and hold all weights in registers.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/conv/conv_points.cpp prints those of a problem
#define OUT u16
#define N 4                  // filters
#define K 64                 // channels
#define LANES 8
#define THREADS 128
#define AT_ONCE 4            // positions of a thread
#define WIDTH 1
#define PLAIN 0              // the result lies plane by plane
#define PITCH 4
#define LOAD(e) from_f16(e)
#define EPILOGUE y[0] = to_f16(sum[0]);
#endif

#include "backends/cuda/kernels/conv/conv_points_args.h"

using namespace tenfold::backends::cuda;

extern "C" __global__ void __launch_bounds__(THREADS) conv(const PointsArguments a) {
  const int lane = threadIdx.x % LANES;
  float w[N][8];
  #pragma unroll
  for (int n = 0; n < N; ++n) {
    u16 part[8];
    read<8>((const u16*)a.w + n * K + lane * 8, part);
    #pragma unroll
    for (int v = 0; v < 8; ++v) w[n][v] = LOAD(part[v]);
  }
  enter();
  const i64 first = (i64)blockIdx.x * (THREADS / LANES * AT_ONCE) + threadIdx.x / LANES;
  u16 x[AT_ONCE][8];
  #pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) {
    const u16* from = (const u16*)a.x + min(first + i * (THREADS / LANES), a.rows - 1) * K + lane * 8;
    if ((u64)a.x % 16 == 0) {
      read<8>(from, x[i]);
    } else {
      #pragma unroll
      for (int v = 0; v < 8; ++v) x[i][v] = from[v];
    }
  }
  #pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) {
    const i64 m = first + i * (THREADS / LANES);
    #pragma unroll
    for (int n = 0; n < N; ++n) {
      float sum[1] = {0.f};
      #pragma unroll
      for (int v = 0; v < 8; ++v) sum[0] = fmaf(LOAD(x[i][v]), w[n][v], sum[0]);
      #pragma unroll
      for (int d = LANES / 2; d > 0; d /= 2) sum[0] += __shfl_xor_sync(~0u, sum[0], d);
      if (lane != n % LANES || m >= a.rows) continue;
      OUT y[1];
      EPILOGUE
      ((OUT*)a.y)[PLAIN ? (m / a.spatial * N + n) * a.spatial + m % a.spatial : m * PITCH + n] = y[0];
    }
  }
}
