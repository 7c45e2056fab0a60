// Resize: a thread walks down a strip of rows of the result and keeps the rows of the source that it has resampled along the other axes,
// for neighboring results are mixed of the same ones.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/resize/resize.cpp prints those of a problem
#define T u16
#define LOADED(x) from_f16(x)
#define STORED(x) to_f16(x)
#define VALUE float          // of a resampled row: T where the nearest is taken
#define TAPS 2               // elements that a result mixes along an axis: 1, 2 or 4
#define AXES 2
#define ROWS 16              // of a strip, at most
#define TRANSFORM 0          // coordinates: half_pixel, pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn, symmetric
#define NEAREST 3            // floor, ceil, round_prefer_ceil, round_prefer_floor
#define LAST 0               // channels lie side by side
#define CUBIC -0.75f
#define EXCLUDES false       // what lies outside counts for nothing
#define SIZES false          // decide, not scales
#define THREADS 256
#define BLOCKS 3             // that a multiprocessor is to have room for
#define WIDE 8               // results of a thread, side by side
#define APART 0              // but as far apart as a row's first threads
#define WINDOW 4             // elements of the source that these lie over, of which each begins at FIRSTS and has WEIGHTS; 0: any
#define FIRSTS -1, 0, 0, 1, 1, 2, 2, 3
#define WEIGHTS .25f, .75f, .75f, .25f, .25f, .75f, .75f, .25f, .25f, .75f, .75f, .25f, .25f, .75f, .75f, .25f
#define BEFORE 1             // elements that are also read on both sides of it
#define BEHIND 1
#define INDEX u32
#define OFFSET int
#define EXTENT(d) a.out[d]
#define CHANNELS a.channels
#define COLUMNS 0            // of a row, if they are known and few
#define GROWS true           // rows of the result are at least as many
#endif

#include "backends/cuda/kernels/resize/resize_args.h"

using namespace tenfold::backends::cuda;
typedef ResizeArgumentsOf<T, float> Arguments;

#include "backends/cuda/kernels/resize/resize_rows.cuh"

// Where a result needs a row of the source, the one below it is soon needed, too (AHEAD): it is fetched before that.
template <int V, class Raw, bool AHEAD>
__device__ __forceinline__ void walk(const Arguments& a, const T* image, const Columns<V>& c, const Place& deep, const Place* rows,
                                     int count, T* to, OFFSET step, OFFSET apart) {
  constexpr int kDeep = AXES == 3 ? TAPS : 1;
  Raw raw[kDeep];
  int at = -1;
  const auto get = [&](int row) {
    #pragma unroll
    for (int t = 0; t < kDeep; ++t)
      if (kDeep == 1 || deep.weight[t] != 0.f)
        raw[t].get(image + (OFFSET)within(deep.first + t, a.in[0]) * (OFFSET)a.x_strides[2] + (OFFSET)row * (OFFSET)a.x_strides[3], c);
    at = row;
  };
  const auto load = [&](int row, VALUE (&y)[V]) {
    if (!AHEAD || row != at) get(row);
    if (kDeep == 1) {
      raw[0].mix(c, y);
    } else {
      #pragma unroll
      for (int v = 0; v < V; ++v) y[v] = 0;
      #pragma unroll
      for (int t = 0; t < kDeep; ++t) {
        if (deep.weight[t] == 0.f) continue;
        VALUE x[V];
        raw[t].mix(c, x);
        #pragma unroll
        for (int v = 0; v < V; ++v) y[v] = (VALUE)fmaf(deep.weight[t], (float)x[v], (float)y[v]);
      }
    }
    if (AHEAD) get(min(row + 1, a.in[1] - 1));
  };
  VALUE kept[TAPS][V];
  int have[TAPS];
  #pragma unroll
  for (int t = 0; t < TAPS; ++t) have[t] = -1;
  for (int r = 0; r < count; ++r, to += step) {
    const Place p = rows[r];
    #pragma unroll
    for (int t = 0; t < TAPS; ++t) {
      const int need = within(p.first + t, a.in[1]);
      if (need == have[t] || (TAPS > 1 && p.weight[t] == 0.f)) continue;
      if (t + 1 < TAPS && need == have[t + 1 < TAPS ? t + 1 : t]) {
        #pragma unroll
        for (int v = 0; v < V; ++v) kept[t][v] = kept[t + 1 < TAPS ? t + 1 : t][v];
      } else {
        load(need, kept[t]);
      }
      have[t] = need;
    }
    T y[V];
    if (TAPS == 1) {
      #pragma unroll
      for (int v = 0; v < V; ++v) y[v] = (T)kept[0][v];
    } else {
      float sum[V];
      #pragma unroll
      for (int v = 0; v < V; ++v) sum[v] = 0.f;
      #pragma unroll
      for (int t = 0; t < TAPS; ++t) {
        if (p.weight[t] == 0.f) continue;
        #pragma unroll
        for (int v = 0; v < V; ++v) sum[v] = fmaf(p.weight[t], (float)kept[t][v], sum[v]);
      }
      #pragma unroll
      for (int v = 0; v < V; ++v) y[v] = STORED(sum[v]);
    }
    if constexpr (APART && V == WIDE) {
      #pragma unroll
      for (int v = 0; v < V; ++v) to[v * apart] = y[v];
    } else {
      write<V>(to, y);
    }
  }
}
template <int V> __device__ __forceinline__ void strips(const Arguments& a) {
  enter();
  __shared__ Place rows[ROWS], columns[COLUMNS ? COLUMNS : 1];   // of all threads, if they are few
  const u32 strip = blockIdx.x % a.strips, of_depth = a.strips / (u32)EXTENT(0);
  const int depth = (int)(strip / of_depth), top = (int)(strip % of_depth) * a.rows, count = min(a.rows, (int)EXTENT(1) - top);
  for (int i = threadIdx.x; i < count; i += THREADS) rows[i] = place(a, 1, top + i);
  for (int i = threadIdx.x; i < COLUMNS; i += THREADS) columns[i] = place(a, 2, i);
  __syncthreads();
  INDEX rest = (INDEX)(blockIdx.x / a.strips) * THREADS + threadIdx.x;
  if (rest >= (INDEX)a.items) return;
  constexpr int kColumns = LAST ? 1 : V;
  INDEX channel = 0;
  if (LAST) {
    const INDEX vectors = (INDEX)CHANNELS / V;
    channel = rest % vectors * V, rest /= vectors;
  }
  const INDEX along_row = (INDEX)EXTENT(2) / kColumns;
  constexpr bool kApart = APART && V == WIDE;
  const int column = (int)(rest % along_row) * (kApart ? 1 : kColumns), apart = kApart ? (int)along_row : 1;
  rest /= along_row;
  const INDEX row = (rest * (INDEX)EXTENT(0) + depth) * (INDEX)EXTENT(1) + top;
  T* to = a.y + (LAST ? (row * (INDEX)EXTENT(2) + column) * (INDEX)CHANNELS + channel : row * (INDEX)EXTENT(2) + column);
  if (!LAST) channel = rest % (INDEX)CHANNELS, rest /= (INDEX)CHANNELS;
  const T* image = a.x + (i64)rest * a.x_strides[0] + (i64)channel * a.x_strides[1];
  Columns<V> c;
  c.extent = a.in[2], c.window = WINDOW ? column / V * WINDOW : 0;
  bool usual = WINDOW && V == WIDE && a.by_windows;
  #pragma unroll
  for (int v = 0; v < kColumns; ++v) {
    const Place p = COLUMNS ? columns[COLUMNS ? column + v * apart : 0] : place(a, 2, column + v * apart);
#if WINDOW
    usual = usual && is_usual(p, c.window, v % WIDE);
#endif
    #pragma unroll
    for (int t = 0; t < TAPS; ++t)
      c.offset[v][t] = (OFFSET)within(p.first + t, a.in[2]) * (OFFSET)a.x_strides[4], c.weight[v][t] = p.weight[t];
  }
  const Place deep = place(a, 0, depth);
  const OFFSET step = (OFFSET)EXTENT(2) * (LAST ? (OFFSET)CHANNELS : 1);
#if WINDOW
  if constexpr (V == WIDE)
    if (usual) return walk<V, Window, GROWS && (TAPS > 1)>(a, image, c, deep, rows, count, to, step, 1);
#endif
  walk<V, Any<V>, GROWS && (LAST || kApart || V == 1) && (TAPS == 2)>(a, image, c, deep, rows, count, to, step, apart);
}
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) vectors(const Arguments a) { strips<WIDE>(a); }
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) singles(const Arguments a) { strips<1>(a); }
