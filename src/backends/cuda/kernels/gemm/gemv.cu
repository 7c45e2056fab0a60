// Products of few rows with a constant matrix, with any epilogue: a warp for each column, which reads its weights before the kernel ahead
// has ended.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/gemv.cpp prints those of a problem
#define IN u16
#define OUT u16
#define LOAD(x) from_f16(x)
#define N 256
#define K 256
#define ROWS 1               // of a block
#define WARPS 16
#define WIDTH 8              // elements that `vectors` reads at once
#define EPILOGUE a.y[m * N + n] = to_f16(mine);   // `mine` at row m, column n
#endif

#include "backends/cuda/kernels/gemm/gemv_args.h"

using namespace tenfold::backends::cuda;

using Arguments = GemvArgumentsOf<IN, OUT>;

template <int V> __device__ __forceinline__ void add(float (&sum)[ROWS], const IN (&w)[V], const IN* a, i64 first, i64 count) {
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (first + r >= count) break;
    IN x[V];
    read<V>(a + (first + r) * K, x);
    #pragma unroll
    for (int v = 0; v < V; ++v) sum[r] += LOAD(x[v]) * LOAD(w[v]);
  }
}
template <int V> __device__ __forceinline__ void compute(const Arguments& a) {
  constexpr int kSteps = (K + 32 * V - 1) / (32 * V), kAhead = kSteps < 8 ? kSteps : 8;
  const int lane = threadIdx.x % 32, n = blockIdx.x * WARPS + threadIdx.x / 32;
  const i64 first = (i64)blockIdx.y * ROWS;
  const IN* b = a.b + (i64)n * K;
  IN ahead[kAhead][V];
  #pragma unroll
  for (int s = 0; s < kAhead; ++s)
    if (n < N && (s * 32 + lane) * V < K) read<V>(b + (s * 32 + lane) * V, ahead[s]);
  enter();   // weights do not depend on the kernel before
  if (n >= N) return;
  float sum[ROWS] = {};
  #pragma unroll
  for (int s = 0; s < kAhead; ++s)
    if ((s * 32 + lane) * V < K) add<V>(sum, ahead[s], a.a + (s * 32 + lane) * V, first, a.m);
  #pragma unroll 4
  for (int s = kAhead; s < kSteps; ++s) {
    if ((s * 32 + lane) * V >= K) break;
    IN w[V];
    read<V>(b + (s * 32 + lane) * V, w);
    add<V>(sum, w, a.a + (s * 32 + lane) * V, first, a.m);
  }
  float mine = 0.f;
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const float all = over_warp<Sum>(sum[r]);
    if (lane == r) mine = all;
  }
  const i64 m = first + lane;
  if (lane >= ROWS || m >= a.m) return;
  EPILOGUE
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) vectors(Arguments a) { compute<WIDTH>(a); }
extern "C" __global__ void __launch_bounds__(32 * WARPS) singles(Arguments a) { compute<1>(a); }
