// MaskedMean: a block for each mean. Groups of threads take every so-manieth vector each; their sums meet in shared memory.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/reduce/masked_mean.cpp prints those of a problem
#define IN u16
#define MASK i64
#define LOAD(r) from_f16(r)
#define LOAD_MASK(r) r
#define N 384                // of a vector
#define THREADS 1024
#define WIDTH 8              // elements that `vectors` reads at once
#define LEAST 1e-9f          // of the sum of weights
#define LEAST_LENGTH 1e-12f
#define PACKED 0             // a mean of the rows from each offset to the next
#define NORMALIZE true
#endif

#include "backends/cuda/kernels/reduce/masked_mean_args.h"

using namespace tenfold::backends::cuda;

template <int V> __device__ __forceinline__ void compute(const MaskedMeanArgumentsOf<IN, MASK>& a) {
  constexpr int kPieces = N / V < THREADS ? N / V : THREADS, kGroups = THREADS / kPieces;
  __shared__ float sums[kGroups * kPieces * V], weights[kGroups], room[32];
  const int piece = threadIdx.x % kPieces, group = threadIdx.x / kPieces;
#if PACKED
  i64 begin = a.offsets[blockIdx.x], end = a.offsets[blockIdx.x + 1];
  if (begin < 0 || end < begin || end > a.tokens) {   // fails the run
    if (threadIdx.x == 0) *a.bad_index = 1;
    begin = end = 0;
  }
  const int tokens = (int)(end - begin);
#else
  const i64 begin = blockIdx.x * a.tokens;
  const int tokens = (int)a.tokens;
#endif
  const IN* x = a.x + begin * N;
  const MASK* mask = a.mask + begin;
  float* y = a.y + (i64)blockIdx.x * N;
  constexpr bool kOnce = N <= kPieces * V && kPieces * V <= THREADS;   // each thread has one element of the mean at most
  float squares = 0.f, own = 0.f;
  for (int first = 0; first < N; first += kPieces * V) {
    const int column = first + piece * V;
    const bool mine = column < N;
    float sum[V] = {}, weight = 0.f;
    if (group < kGroups && mine) {
      #pragma unroll 8
      for (int s = group; s < tokens; s += kGroups) {
        IN raw[V];
        read<V>(x + s * (i64)N + column, raw);
        const MASK m = mask[s];
        const float w = (float)LOAD_MASK(m);
        weight += w;
        #pragma unroll
        for (int i = 0; i < V; ++i) sum[i] += w * LOAD(raw[i]);
      }
      #pragma unroll
      for (int i = 0; i < V; ++i) sums[(group * V + i) * kPieces + piece] = sum[i];
      if (piece == 0) weights[group] = weight;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < kPieces * V; c += THREADS) {
      const int at = first + c % kPieces * V + c / kPieces;
      if (at >= N) continue;
      float all = 0.f, result = 0.f;
      #pragma unroll 16
      for (int g = 0; g < kGroups; ++g) all += weights[g], result += sums[g * V * kPieces + c];
      result /= max_nan(all, LEAST);
      squares += result * result;
      if (kOnce) own = result;
      if (!kOnce || !NORMALIZE) y[at] = result;
    }
    __syncthreads();
  }
  if (!NORMALIZE) return;
  const float length = max_nan(sqrtf(over_block<Sum, THREADS>(squares, 0.f, room)), LEAST_LENGTH);
  for (int first = 0; first < N; first += kPieces * V)
    for (int c = threadIdx.x; c < kPieces * V; c += THREADS) {
      const int at = first + c % kPieces * V + c / kPieces;
      if (at < N) y[at] = (kOnce ? own : y[at]) / length;
    }
}
extern "C" __global__ void __launch_bounds__(THREADS) singles(MaskedMeanArgumentsOf<IN, MASK> a) { enter(); compute<1>(a); }
extern "C" __global__ void __launch_bounds__(THREADS) vectors(MaskedMeanArgumentsOf<IN, MASK> a) { enter(); compute<WIDTH>(a); }
