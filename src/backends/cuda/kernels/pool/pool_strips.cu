// Pooling windows, several results a thread: neighbors along a row (or channels), in a few rows below each other. All that a thread reads
// is asked for before it computes, in pieces of up to 16 bytes, and rows that two results share are read once.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/pool/pool_strips.cpp prints those of a problem
#define T u16
#define V 2                  // results side by side, or channels
#define ROWS 2
#define LAST 0               // channels lie side by side
#define THREADS 256
#define BLOCKS 2             // that a multiprocessor is to have room for
#define STORED 2             // results that are written at once
#define PIECE u32            // as which
#define K0 1
#define K1 2
#define K2 2
#define S0 1
#define S1 2
#define S2 2
#define D0 1
#define D1 1
#define D2 1
#define B0 0
#define B1 0
#define B2 0
#define E0 0
#define E1 0
#define E2 0
#define OUT0 1
#define OUT1 8
#define OUT2 8
#define INDEX u32            // results can be counted in it
#define CHANNELS 64
#define IS_MAX 1
#define COUNT_PADS 0
#define READS 1              // of a thread, of a row
#define WORDS 2              // that they fill
#define FROM 0
#define WIDE 4
#define WORD 0
#define AT 0, 1, 2, 3
#define LOAD(e) from_f16(e)
#define STORE(f) to_f16(f)
#define FILL 0xfc00fc00u     // a word of what lies outside
#define PAIRS 1              // two elements are a word
#define BYTES 0              // four are, and MAX_BYTES finds the largest of each
#define MAX_PAIR "max.NaN.f16x2"
#endif

#include "backends/cuda/kernels/pool/pool_args.h"

using namespace tenfold::backends::cuda;

// What a thread reads of a row: from which column on, how many elements, into which word; and where it then finds the taps of its results.
__device__ constexpr int kFrom[READS] = {FROM}, kWide[READS] = {WIDE}, kWord[READS] = {WORD}, kAt[V * K2] = {AT};
constexpr int kHeight = (ROWS - 1) * S1 + (K1 - 1) * D1 + 1, kResultWords = V * sizeof(T) > 4 ? V * sizeof(T) / 4 : 1;
constexpr int kHeld = LAST ? kResultWords : WORDS;
__device__ __forceinline__ constexpr bool needs(int row, int y) {
  return y >= row * S1 && (y - row * S1) % D1 == 0 && (y - row * S1) / D1 < K1;
}
__device__ __forceinline__ constexpr bool is_needed(int y) {
  bool any = false;
  for (int r = 0; r < ROWS; ++r) any = any || needs(r, y);
  return any;
}
template <int N> __device__ __forceinline__ void fetch(const T* from, u32* to) {
  u32 x[N];
  read<N>((const u32*)from, x);
  #pragma unroll
  for (int i = 0; i < N; ++i) to[i] = x[i];
}
__device__ __forceinline__ void get(const T* line, const int column, const int extent, const i64 step, const bool there,
                                    u32 (&raw)[WORDS]) {
  #pragma unroll
  for (int l = 0; l < READS; ++l) {
    constexpr int kBytes = sizeof(T);
    u32* to = raw + kWord[l];
    const int at = column + kFrom[l], bytes = kWide[l] * kBytes;
    #pragma unroll
    for (int w = 0; w < (bytes + 3) / 4; ++w) to[w] = FILL;
    if (!there || (u32)at >= (u32)extent) continue;
    const T* from = line + (LAST ? at * step : (i64)at);
    if (bytes == 16) fetch<4>(from, to);
    else if (bytes == 8) fetch<2>(from, to);
    else if (bytes == 4) fetch<1>(from, to);
    else to[0] = *(const u16*)from;
  }
}
#if !BYTES
__device__ __forceinline__ float element(u32 word, int, float*) { return __uint_as_float(word); }
__device__ __forceinline__ float element(u32 word, int at, u16*) { const u16 e = (u16)(word >> at % 2 * 16); return LOAD(e); }
__device__ __forceinline__ float element(const u32* words, int at) { return element(words[at * sizeof(T) / 4], at, (T*)0); }
__device__ __forceinline__ void put(float x, int, u32& word, float*) { word = __float_as_uint(x); }
__device__ __forceinline__ void put(float x, int at, u32& word, u16*) {
  const u32 e = (u32)STORE(x);
  word = at % 2 ? word | e << 16 : e;
}
#endif
__device__ __forceinline__ u32 most(u32 a, u32 b) {
#if BYTES
  u32 y;
  asm(MAX_BYTES " %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(0));
  return y;
#elif PAIRS && __CUDA_ARCH__ >= 800
  u32 y;
  asm(MAX_PAIR " %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
#else
  u32 y = 0;
  #pragma unroll
  for (int i = 0; i < 4 / (int)sizeof(T); ++i) put(max_nan(element(a, i, (T*)0), element(b, i, (T*)0)), i, y, (T*)0);
  return y;
#endif
}
// Taps of the window from `start` on that count.
template <int TAPS, int STEP> __device__ __forceinline__ int counted(int start, int extent, int end) {
#if COUNT_PADS
  return max(0, min(TAPS, (extent + end - start + STEP - 1) / STEP));
#else
  return max(0, (start >= extent ? 0 : min(TAPS, (extent - start + STEP - 1) / STEP)) - (start < 0 ? (-start + STEP - 1) / STEP : 0));
#endif
}

#if IS_MAX
struct Window {
  u32 best[ROWS][kHeld];
  __device__ __forceinline__ void start() {
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
      #pragma unroll
      for (int w = 0; w < kHeld; ++w) best[r][w] = FILL;
  }
  __device__ __forceinline__ void join(int y, u32 (&raw)[WORDS]) {
    #pragma unroll
    for (int k = 1; k < (LAST ? K2 : 1); ++k)
      #pragma unroll
      for (int w = 0; w < kHeld; ++w) raw[w] = most(raw[w], raw[k * kHeld + w]);
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
      #pragma unroll
      for (int w = 0; w < kHeld && needs(r, y); ++w) best[r][w] = most(best[r][w], raw[w]);
  }
  __device__ __forceinline__ void finish(int r, const float*, u32 (&y)[kResultWords]) const {
#if BYTES   // of channels side by side: each has its place
    #pragma unroll
    for (int w = 0; w < kResultWords; ++w) y[w] = best[r][w];
#else
    #pragma unroll
    for (int v = 0; v < V; ++v) {
      float x = element(best[r], LAST ? v : kAt[v * K2]);
      #pragma unroll
      for (int k = 1; k < (LAST ? 1 : K2); ++k) x = max_nan(x, element(best[r], kAt[v * K2 + k]));
      put(x, v, y[v * sizeof(T) / 4], (T*)0);
    }
#endif
  }
};
#else
// In the order in which a window is told: depth, height, width.
struct Window {
  float sum[ROWS][V];
  __device__ __forceinline__ void start() {
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
      #pragma unroll
      for (int v = 0; v < V; ++v) sum[r][v] = 0.f;
  }
  __device__ __forceinline__ void join(int y, u32 (&raw)[WORDS]) {
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
      #pragma unroll
      for (int k = 0; k < K2 && needs(r, y); ++k)
        #pragma unroll
        for (int v = 0; v < V; ++v) sum[r][v] += element(raw, kAt[v * K2 + k]);
  }
  __device__ __forceinline__ void finish(int r, const float* count, u32 (&y)[kResultWords]) const {
    #pragma unroll
    for (int v = 0; v < V; ++v) put(sum[r][v] / count[LAST ? 0 : v], v, y[v * sizeof(T) / 4], (T*)0);
  }
};
#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) strips(PoolArgumentsOf<T> a) {
  enter();
  const INDEX vectors = LAST ? (INDEX)(CHANNELS) / V : ((INDEX)OUT2 + V - 1) / V, strips = ((INDEX)OUT1 + ROWS - 1) / ROWS;
  INDEX i = (INDEX)blockIdx.x * THREADS + threadIdx.x;
  const int vector = (int)(i % vectors);
  i /= vectors;
  int right = 0, channel = vector * V;
  if (LAST) right = (int)(i % (INDEX)OUT2), i /= (INDEX)OUT2;
  const int top = (int)(i % strips) * ROWS;
  i /= strips;
  const int depth = (int)(i % (INDEX)OUT0);
  i /= (INDEX)OUT0;
  if (!LAST) right = vector * V, channel = (int)(i % (INDEX)(CHANNELS)), i /= (INDEX)(CHANNELS);
  if (i >= (INDEX)a.batch) return;
  const T* x = a.x + (i64)i * a.x_stride[0] + channel * a.x_stride[1];
  const int z = depth * S0 - B0, y = top * S1 - B1, column = right * S2 - (LAST ? B2 : 0);
  Window window;
  window.start();
  #pragma unroll
  for (int kz = 0; kz < K0; ++kz) {
    const int plane = z + kz * D0;
    #pragma unroll
    for (int ky = 0; ky < kHeight; ++ky) {
      if (!is_needed(ky)) continue;
      const int row = y + ky;
      u32 raw[WORDS];
      get(x + plane * a.x_stride[2] + row * a.x_stride[3], column, (int)a.in[2], a.x_stride[4],
          (u32)plane < (u32)a.in[0] && (u32)row < (u32)a.in[1], raw);
      window.join(ky, raw);
    }
  }
  u32 results[ROWS][kResultWords];
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float count[LAST ? 1 : V];
    #pragma unroll
    for (int v = 0; v < (LAST ? 1 : V); ++v)
      count[v] = (float)max(1, counted<K0, D0>(z, (int)a.in[0], E0) * counted<K1, D1>(y + r * S1, (int)a.in[1], E1) *
                                   counted<K2, D2>((right + v) * S2 - B2, (int)a.in[2], E2));
    window.finish(r, count, results[r]);
  }
  T* to = a.y + (i64)i * a.y_stride[0] + channel * a.y_stride[1] + depth * a.y_stride[2] + top * a.y_stride[3] + right * a.y_stride[4];
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (top + r >= (int)OUT1) break;
    #pragma unroll
    for (int v = 0; v < V; v += STORED) {
      T* at = to + r * a.y_stride[3] + v;
      if (!LAST && right + v >= (int)OUT2) break;
      PIECE out[STORED * sizeof(T) / sizeof(PIECE)];
      #pragma unroll
      for (int w = 0; w < STORED * sizeof(T) / sizeof(PIECE); ++w)
        out[w] = (PIECE)(results[r][v * sizeof(T) / 4 + w] >> v * sizeof(T) % 4 * 8);
      write<STORED * sizeof(T) / sizeof(PIECE)>((PIECE*)at, out);
    }
  }
}
