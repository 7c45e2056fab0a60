// Depthwise convolutions over channels-last images, with any epilogue. The weights lie as [tap, channel].
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/conv/conv_depthwise.cpp prints those of a problem
#define IN u16
#define WEIGHT u16
#define OUT u16
#define SUM float
#define LOAD(e) from_f16(e)
#define LOAD_WEIGHT(e) from_f16(e)
#define THREADS 128
#define N 64                 // channels
#define PITCH 64
#define MOST 8               // channels of a thread of `vectors`
#define ZERO 0               // the element that stands for nought
#define EPILOGUE for (int v = 0; v < WIDTH; ++v) y[v] = to_f16(sum[v]);
#define IZ 16
#define IY 16
#define IX 16
#define OZ 16
#define OY 16
#define OX 16
#define KZ 3
#define KY 3
#define KX 3
#define SZ 1
#define SY 1
#define SX 1
#define DZ 1
#define DY 1
#define DX 1
#define BZ 1
#define BY 1
#define BX 1
#endif

#include "backends/cuda/kernels/gemm/gemm_args.h"

using namespace tenfold::backends::cuda;

template <int WIDTH> __device__ __forceinline__ void compute(const GemmArguments& a) {
  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x, m = i / (N / WIDTH);
  const int n = (int)(i % (N / WIDTH)) * WIDTH;
  if (m >= a.m) return;
  const int position = (int)(m % (OZ * OY * OX));
  const IN* image = (const IN*)a.a + m / (OZ * OY * OX) * ((i64)IZ * IY * IX * N) + n;
  const int top[3] = {position / (OY * OX) * SZ - BZ, position / OX % OY * SY - BY, position % OX * SX - BX};
  const SUM zero = ZERO;
  SUM sum[WIDTH] = {};
  #pragma unroll
  for (int tap = 0; tap < KZ * KY * KX; ++tap) {
    const int iz = top[0] + tap / (KY * KX) * DZ, iy = top[1] + tap / KX % KY * DY, ix = top[2] + tap % KX * DX;
    if (iz < 0 || iz >= IZ || iy < 0 || iy >= IY || ix < 0 || ix >= IX) continue;
    IN e[WIDTH];
    WEIGHT w[WIDTH];
    read<WIDTH>(image + ((iz * IY + iy) * (i64)IX + ix) * N, e);
    read<WIDTH>((const WEIGHT*)a.b + tap * N + n, w);
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) sum[v] += ((SUM)LOAD(e[v]) - zero) * (SUM)LOAD_WEIGHT(w[v]);
  }
  OUT y[WIDTH];
  EPILOGUE
  write<WIDTH>((OUT*)a.y + m * PITCH + n, y);
}
extern "C" __global__ void __launch_bounds__(THREADS) vectors(const GemmArguments a) { enter(); compute<MOST>(a); }
extern "C" __global__ void __launch_bounds__(THREADS) singles(const GemmArguments a) { enter(); compute<1>(a); }
