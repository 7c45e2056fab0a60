// Products of few rows with a constant matrix, with any epilogue: a warp for each column, which reads its weights before the kernel ahead
// has ended. Rows may be normalized (NORM): as each warp reads a whole row, it takes the mean square on the way. The columns of two
// matrices may be computed together (PAIR), for an epilogue of both.
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
#define NORM 1
#define EPSILON 1e-5f
#define SCALE u16
#define LOAD_SCALE(x) from_f16(x)
#define PAIR 1
#define EPILOGUE a.y[m * N + n] = to_f16(mine * other);   // `mine` and, of the second matrix, `other` at row m, column n
#endif

#include "backends/cuda/kernels/gemm/gemv_args.h"

using namespace tenfold::backends::cuda;

using Arguments = GemvArgumentsOf<IN, OUT>;

// What a lane has of each row: parts of the products with one column of each matrix, and of the squares.
struct Sums {
  float first[ROWS], second[PAIR ? ROWS : 1], squares[NORM ? ROWS : 1];
};

// Vectors of a column that a lane reads ahead.
template <int V> struct Weights {
  static constexpr int kSteps = (K + 32 * V - 1) / (32 * V), kMaxAhead = ROWS == 1 && WARPS <= 4 && !PAIR ? 16 : 8;
  static constexpr int kAhead = kSteps < kMaxAhead ? kSteps : kMaxAhead;
};

template <int V>
__device__ __forceinline__ void add(Sums& sums, const IN (&w)[V], const IN (&u)[PAIR ? V : 1], const Arguments& a, int at, i64 first) {
#if NORM
  SCALE scale[V];
  read<V>((const SCALE*)a.scale + at, scale);
#endif
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (first + r >= a.m) break;
    IN x[V];
    read<V>(a.a + (first + r) * K + at, x);
    #pragma unroll
    for (int v = 0; v < V; ++v) {
      float value = LOAD(x[v]);
#if NORM
      sums.squares[r] += value * value, value *= LOAD_SCALE(scale[v]);
#endif
      sums.first[r] += value * LOAD(w[v]);
#if PAIR
      sums.second[r] += value * LOAD(u[v]);
#endif
    }
  }
}

// Of the rows one for each of the first lanes.
__device__ __forceinline__ void finish(const Arguments& a, const Sums& sums, i64 first, int n) {
  const int lane = threadIdx.x % 32;
  float mine = 0.f, other = 0.f;
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float all = over_warp<Sum>(sums.first[r]), second = PAIR ? over_warp<Sum>(sums.second[PAIR ? r : 0]) : 0.f;
#if NORM
    const float inverse = rsqrtf(over_warp<Sum>(sums.squares[r]) * (1.0f / K) + EPSILON);
    all *= inverse, second *= inverse;
#endif
    if (lane == r) mine = all, other = second;
  }
  const i64 m = first + lane;
  if (lane >= ROWS || m >= a.m) return;
  (void)other;
  EPILOGUE
}

template <int V> __device__ __forceinline__ void compute(const Arguments& a) {
  constexpr int kSteps = Weights<V>::kSteps, kAhead = Weights<V>::kAhead, kSecond = PAIR ? V : 1;
  const int lane = threadIdx.x % 32, n = blockIdx.x * WARPS + threadIdx.x / 32;
  const i64 first = (i64)blockIdx.y * ROWS;
  const IN *b = a.b + (i64)n * K, *c = a.second + (i64)n * K;
  IN ahead[kAhead][V], beside[kAhead][kSecond];
  #pragma unroll
  for (int s = 0; s < kAhead; ++s) {
    const int at = (s * 32 + lane) * V;
    if (n >= N || at >= K) continue;
    read<V>(b + at, ahead[s]);
    if (PAIR) read<kSecond>(c + at, beside[s]);
  }
  enter();   // weights do not depend on the kernel before
  if (n >= N) return;
  Sums sums = {};
  #pragma unroll
  for (int s = 0; s < kAhead; ++s)
    if ((s * 32 + lane) * V < K) add<V>(sums, ahead[s], beside[s], a, (s * 32 + lane) * V, first);
  #pragma unroll 4
  for (int s = kAhead; s < kSteps; ++s) {
    const int at = (s * 32 + lane) * V;
    if (at >= K) break;
    IN w[V], u[kSecond];
    read<V>(b + at, w);
    if (PAIR) read<kSecond>(c + at, u);
    add<V>(sums, w, u, a, at, first);
  }
  finish(a, sums, first, n);
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) vectors(Arguments a) { compute<WIDTH>(a); }
extern "C" __global__ void __launch_bounds__(32 * WARPS) singles(Arguments a) { compute<1>(a); }
