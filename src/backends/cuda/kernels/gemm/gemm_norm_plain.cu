// A product and the norm of its rows where addresses are such that TMA does not take them: a block for each row.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/gemm_norm_plain.cpp prints those of a problem
#define N 768
#define K 768
#define THREADS 256
#define STAGED 0             // a tensor is added
#define KEPT 0               // the sum before the norm is a result, too
#define HAS_ROW 0
#define EPSILON 1e-5f
#define LOAD(x) from_f16(x)
#define STORE(x) to_f16(x)
#define SCALE u16
#define LOAD_SCALE(x) from_f16(x)
#define BIAS u16
#define LOAD_BIAS(x) from_f16(x)
#define ROW u16
#define LOAD_ROW(x) from_f16(x)
#endif

#include "backends/cuda/kernels/gemm/gemm_norm_plain_args.h"

using namespace tenfold::backends::cuda;

constexpr int kSteps = (N + THREADS - 1) / THREADS;
extern "C" __global__ void __launch_bounds__(THREADS) plain(const PlainNormArguments a) {
  enter();
  __shared__ float room[32];
  const u16* x = (const u16*)a.a + (i64)blockIdx.x * K;
  float v[kSteps], sum = 0.f, squares = 0.f;
  #pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const int n = i * THREADS + threadIdx.x;
    v[i] = 0.f;
    if (n >= N) continue;
    for (int k = 0; k < K; ++k) v[i] += LOAD(x[k]) * LOAD(((const u16*)a.b)[(i64)n * K + k]);
    if (HAS_ROW) v[i] += LOAD_ROW(((const ROW*)a.epilogue[2])[n]);
    if (STAGED) v[i] += LOAD(((const u16*)a.r)[(i64)blockIdx.x * N + n]);
    if (KEPT) ((u16*)a.s)[(i64)blockIdx.x * N + n] = STORE(v[i]);
    sum += v[i];
  }
  const float mean = over_block<Sum, THREADS>(sum, 0.f, room) * (1.0f / N);
  #pragma unroll
  for (int i = 0; i < kSteps; ++i) squares += i * THREADS + threadIdx.x < N ? (v[i] - mean) * (v[i] - mean) : 0.f;
  const float inverse = rsqrtf(over_block<Sum, THREADS>(squares, 0.f, room) * (1.0f / N) + EPSILON);
  #pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const int n = i * THREADS + threadIdx.x;
    if (n >= N) continue;
    const float y = (v[i] - mean) * inverse * LOAD_SCALE(((const SCALE*)a.epilogue[0])[n]) + LOAD_BIAS(((const BIAS*)a.epilogue[1])[n]);
    ((u16*)a.y)[(i64)blockIdx.x * N + n] = STORE(y);
  }
}
