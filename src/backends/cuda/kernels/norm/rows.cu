// Softmax and norms of contiguous rows, and their quantization: a warp or a block for a row, the row in registers. A row is read, or is a
// sum of rows of tables that indices name and of rows that lie in order (TERMS).
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/norm/rows.cpp prints those of a problem
#define KIND KIND_LAYER_NORM
#define IN u16
#define OUT u16
#define SCALE u16
#define BIAS u16
#define HAS_BIAS 1
#define QUANTIZED void       // a second result, the first one in 8 bits; void: there is none
#define N 384                // of a row
#define THREADS 32           // of a row
#define ROWS 4               // of a block
#define WIDTH 8              // elements that `vectors` reads at once
#define EPSILON 1e-5f
#define LARGEST 127.f        // to which a quantized row's largest magnitude is scaled
#define LOAD(r) from_f16(r)
#define STORE(r) to_f16(r)
#define LOAD_SCALE(r) from_f16(r)
#define LOAD_BIAS(r) from_f16(r)
#define TERMS 0
#define PLACES               // where a row's terms begin
#define ADD_TERMS            // their elements from `at`, added to v[k]
#define QUANTIZE             // raw to a.quantized
#endif

// As RowKind (codegen/norm/rows.h).
#define KIND_SOFTMAX 0
#define KIND_LOG_SOFTMAX 1
#define KIND_LAYER_NORM 2
#define KIND_RMS_NORM 3
#define KIND_QUANTIZE 4
#define IS_NORM (KIND == KIND_LAYER_NORM || KIND == KIND_RMS_NORM)

#include "backends/cuda/kernels/norm/rows_args.h"

using namespace tenfold::backends::cuda;

#if TERMS
typedef RowTermArguments Arguments;
#else
typedef RowArguments Arguments;
#endif

// As one instruction: NVRTC 13 makes seven of the first vector of a row.
__device__ __forceinline__ void write_whole(u16* p, const u16 (&x)[8]) {
  const auto two = [&](int i) { return (u32)x[i] | (u32)x[i + 1] << 16; };
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" :: "l"(p), "r"(two(0)), "r"(two(2)), "r"(two(4)), "r"(two(6)));
}
template <class T, int V> __device__ __forceinline__ void write_whole(T* p, const T (&x)[V]) { write<V>(p, x); }

#if IS_NORM
template <int V> __device__ __forceinline__ void read_parameters(const Arguments& a, int at, SCALE (&scale)[V], BIAS (&bias)[V]) {
  read<V>((const SCALE*)a.scale + at, scale);
#if HAS_BIAS
  read<V>((const BIAS*)a.bias + at, bias);
#endif
}
#endif

#define EACH _Pragma("unroll") for (int k = 0; k < kSteps; ++k) _Pragma("unroll") for (int i = 0; i < V; ++i)
template <int V> __device__ __forceinline__ void compute(const Arguments& a) {
  constexpr int kSteps = (N + THREADS * V - 1) / (THREADS * V);
  __shared__ float room[32];
  const int t = threadIdx.x % THREADS;
  const i64 row = (i64)blockIdx.x * ROWS + threadIdx.x / THREADS;
  if (row >= a.rows) return;
#if TERMS
  PLACES
#else
  const IN* x = (const IN*)a.x + row * N;
#endif
  OUT* y = (OUT*)a.y + row * N;
  float v[kSteps][V];
  #pragma unroll
  for (int k = 0; k < kSteps; ++k) {
    const int at = (k * THREADS + t) * V;
#if TERMS
    for (int i = 0; i < V; ++i) v[k][i] = 0.f;
    ADD_TERMS
#else
    IN raw[V];
    if (at < N) read<V>(x + at, raw);
    #pragma unroll
    for (int i = 0; i < V; ++i) v[k][i] = at < N ? LOAD(raw[i]) : IS_NORM || KIND == KIND_QUANTIZE ? 0.f : -INFINITY_F;
#endif
  }
#if IS_NORM
  // Scale and bias come along with the row if registers hold them: behind a store that may change them each would be waited for alone.
  constexpr bool kHeld = kSteps * V <= 32;
  SCALE scale[kHeld ? kSteps : 1][V];
  BIAS bias[kHeld ? kSteps : 1][V];
  #pragma unroll
  for (int k = 0; k < (kHeld ? kSteps : 0); ++k) {
    const int at = (k * THREADS + t) * V;
    if (at < N) read_parameters(a, at, scale[k], bias[k]);
  }
#endif
#if KIND == KIND_LAYER_NORM
  float sum = 0;
  EACH sum += v[k][i];
  const float mean = over_block<Sum, THREADS>(sum, 0.f, room) * (1.0f / N);
  float squares = 0;
  EACH { const float d = v[k][i] - mean; squares += (k * THREADS + t) * V + i < N ? d * d : 0.f; }
  const float inverse = rsqrtf(over_block<Sum, THREADS>(squares, 0.f, room) * (1.0f / N) + EPSILON);
#elif KIND == KIND_RMS_NORM
  float squares = 0;
  EACH squares += v[k][i] * v[k][i];
  const float mean = 0.f, inverse = rsqrtf(over_block<Sum, THREADS>(squares, 0.f, room) * (1.0f / N) + EPSILON);
#elif KIND == KIND_QUANTIZE
  float most = 0.f;
  EACH most = max_nan(most, fabsf(v[k][i]));
  most = over_block<Max, THREADS>(most, 0.f, room);
  const bool finite = most < INFINITY_F;   // not if some element is not a number, either
  const float by = finite && most > LARGEST / 3.4028235e38f ? LARGEST / most : 0.f;   // rows next to zero are zeros
  if (t == 0) ((float*)a.quantized)[row] = finite ? most / LARGEST : __int_as_float(0x7fffffff);
#else
  float most = -INFINITY_F;
  EACH most = max_nan(most, v[k][i]);
  most = over_block<Max, THREADS>(most, -INFINITY_F, room);
  float sum = 0;
  EACH {
    const float e = __expf(v[k][i] - most);
    sum += (k * THREADS + t) * V + i < N ? e : 0.f;
    if (KIND == KIND_SOFTMAX) v[k][i] = e;
  }
  sum = over_block<Sum, THREADS>(sum, 0.f, room);
#endif
  next_may_start();
  #pragma unroll
  for (int k = 0; k < kSteps; ++k) {
    const int at = (k * THREADS + t) * V;
    if (at >= N) continue;
    OUT raw[V];
#if KIND == KIND_SOFTMAX
    const float scale = 1.0f / sum;
    for (int i = 0; i < V; ++i) { const float r = v[k][i] * scale; raw[i] = STORE(r); }
#elif KIND == KIND_LOG_SOFTMAX
    for (int i = 0; i < V; ++i) { const float r = v[k][i] - most - logf(sum); raw[i] = STORE(r); }
#elif KIND == KIND_QUANTIZE
    for (int i = 0; i < V; ++i) { const float r = by > 0.f ? v[k][i] * by : 0.f; raw[i] = STORE(r); }
#else
    const int h = kHeld ? k : 0;
    if (!kHeld) read_parameters(a, at, scale[h], bias[h]);
    for (int i = 0; i < V; ++i) {
#if HAS_BIAS
      const float r = (v[k][i] - mean) * inverse * LOAD_SCALE(scale[h][i]) + LOAD_BIAS(bias[h][i]);
#else
      const float r = (v[k][i] - mean) * inverse * LOAD_SCALE(scale[h][i]);
#endif
      raw[i] = STORE(r);
    }
#endif
    write_whole(y + at, raw);
    QUANTIZE
  }
}
extern "C" __global__ void __launch_bounds__(THREADS * ROWS) singles(Arguments a) { enter(); compute<1>(a); }
extern "C" __global__ void __launch_bounds__(THREADS * ROWS) vectors(Arguments a) { enter(); compute<WIDTH>(a); }
