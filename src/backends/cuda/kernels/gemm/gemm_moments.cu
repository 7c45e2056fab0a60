// What a norm needs to know of a product's rows: the inverse deviation, and the mean times it.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/gemm_moments.cpp prints those of a problem
#define N 768
#define COLUMNS 128          // of a tile of the product, whose sums and sums of squares `finish` puts together
#define THREADS 128
#define EPSILON 1e-5f
#define LOAD(x) from_f16(x)
#endif

#include "backends/cuda/kernels/gemm/gemm_moments_args.h"

using namespace tenfold::backends::cuda;

constexpr int kParts = N / COLUMNS;
__device__ __forceinline__ void tell(const MomentsArguments& a, i64 m, float mean, float squares) {
  const float inverse = rsqrtf(squares * (1.0f / N) + EPSILON);
  ((float*)a.inverse)[m] = inverse, ((float*)a.offset)[m] = mean * inverse;
}
extern "C" __global__ void __launch_bounds__(THREADS) finish(MomentsArguments a) {
  enter();
  const i64 m = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (m >= a.m) return;
  float2 part[kParts];
  float mean = 0.f, squares = 0.f;
  #pragma unroll
  for (int p = 0; p < kParts; ++p) part[p] = ((const float2*)a.from)[p * a.m + m];
  #pragma unroll
  for (int p = 0; p < kParts; ++p) {
    part[p].x *= 1.0f / COLUMNS;
    mean += part[p].x * (1.0f / kParts), squares += max(part[p].y - COLUMNS * part[p].x * part[p].x, 0.f);
  }
  #pragma unroll
  for (int p = 0; p < kParts; ++p) squares += COLUMNS * (part[p].x - mean) * (part[p].x - mean);
  tell(a, m, mean, squares);
}
extern "C" __global__ void __launch_bounds__(THREADS) plain(MomentsArguments a) {
  enter();
  __shared__ float room[32];
  const u16* x = (const u16*)a.from + (i64)blockIdx.x * N;
  float sum = 0.f, squares = 0.f;
  for (int n = threadIdx.x; n < N; n += THREADS) sum += LOAD(x[n]);
  const float mean = over_block<Sum, THREADS>(sum, 0.f, room) * (1.0f / N);
  for (int n = threadIdx.x; n < N; n += THREADS) squares += (LOAD(x[n]) - mean) * (LOAD(x[n]) - mean);
  squares = over_block<Sum, THREADS>(squares, 0.f, room);
  if (threadIdx.x == 0) tell(a, blockIdx.x, mean, squares);
}
