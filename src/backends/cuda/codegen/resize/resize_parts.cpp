// The text of Resize's kernels.
#include "backends/cuda/codegen/resize/resize_parts.h"

#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

// Rounded after every operation, as the reference does: which elements are mixed depends on it.
constexpr const char* kPlaces = R"(
struct Arguments { const T* x; const float* scales; T* y; i64 items, channels, xs[5]; int in[3], out[3]; float scale[3];
                   u32 strips, by_windows; int rows; };
__device__ __forceinline__ float coordinate(float x, float scale, float in, int out) {
  if (TRANSFORM == 1 && out <= 1) return 0.f;
  const float wide = __fmul_rn(scale, in);   // the extent before it was rounded down
  if (TRANSFORM == 2) return wide == 1.f ? 0.f : __fdiv_rn(__fmul_rn(x, __fsub_rn(in, 1.f)), __fsub_rn(wide, 1.f));
  if (TRANSFORM == 3) return __fdiv_rn(x, scale);
  const float middle = __fdiv_rn(__fadd_rn(x, .5f), scale);
  if (TRANSFORM == 4) return middle;
  if (TRANSFORM == 5)
    return __fsub_rn(__fadd_rn(__fmul_rn(__fdiv_rn(in, 2.f), __fsub_rn(1.f, __fdiv_rn((float)out, wide))), middle), .5f);
  return __fsub_rn(middle, .5f);
}
// What one position of the result mixes: elements from `first` on, which may lie outside. Elements of weight 0 count for nothing, whatever
// they are.
struct Place { int first; float weight[TAPS]; };
__device__ __forceinline__ float cubic(float d) {
  return d <= 1.f ? ((CUBIC + 2.f) * d - (CUBIC + 3.f)) * d * d + 1.f : ((CUBIC * d - 5.f * CUBIC) * d + 8.f * CUBIC) * d - 4.f * CUBIC;
}
__device__ __forceinline__ Place place(const Arguments& a, int d, int position) {
  float x = (float)position;
  if (d >= 3 - AXES) {
    const float scale = SIZES ? a.scale[d] : a.scales[d - (3 - AXES)];
    if (a.in[d] != a.out[d] || scale != 1.f) x = coordinate(x, scale, (float)a.in[d], a.out[d]);
  }
  constexpr float kBeyond = TAPS == 4 ? 2.f : 1.f;   // further out nothing changes
  x = fminf(fmaxf(x, -kBeyond), (float)a.in[d] - 1.f + kBeyond);
  Place p;
  if (TAPS == 1) {
    p.first = (int)(NEAREST == 0 ? floorf(x) : NEAREST == 1 ? ceilf(x) : NEAREST == 2 ? floorf(__fadd_rn(x, .5f))
                                                                                      : ceilf(__fsub_rn(x, .5f)));
    p.weight[0] = 1.f;
    return p;
  }
  const float low = floorf(x), part = x - low;
  p.first = (int)low - (TAPS / 2 - 1);
  if (TAPS == 2) p.weight[0] = 1.f - part, p.weight[TAPS - 1] = part;
  if (TAPS < 4) return p;
  float sum = 0.f;
  #pragma unroll
  for (int t = 0; t < TAPS; ++t) {
    p.weight[t] = EXCLUDES && (p.first + t < 0 || p.first + t >= a.in[d]) ? 0.f : cubic(fabsf(part + 1.f - (float)t));
    sum += p.weight[t];
  }
  #pragma unroll
  for (int t = 0; t < TAPS && EXCLUDES; ++t) p.weight[t] /= sum;
  return p;
}
__device__ __forceinline__ int within(int i, int extent) { return max(0, min(extent - 1, i)); }
)";

// VALUE is what a row's resampled elements are held as: the elements themselves where the nearest is taken, else f32. Elements of the
// source are held in words as they were read, so that nothing waits for them before they are used.
constexpr const char* kFetch = R"(
template <int N> struct Words { u32 w[N * sizeof(T) > 4 ? N * sizeof(T) / 4 : 1]; };
template <int N> __device__ __forceinline__ Words<N> fetch(const T* from) {
  Words<N> x;
  if (N * sizeof(T) < 4) x.w[0] = *(const u16*)from;
  else read<sizeof(x.w) / 4>((const u32*)from, x.w);
  return x;
}
__device__ __forceinline__ void element(u32 word, int, float& x) { x = __uint_as_float(word); }
__device__ __forceinline__ void element(u32 word, int i, u16& x) { x = (u16)(word >> i % 2 * 16); }
template <int N> __device__ __forceinline__ T element(const Words<N>& x, int i) {
  T y;
  element(x.w[i * sizeof(T) / 4], i, y);
  return y;
}
template <int V> struct Columns { OFFSET offset[LAST ? 1 : V][TAPS]; float weight[LAST ? 1 : V][TAPS]; int window, extent; };
#if WINDOW
// Of the elements of a vector: where each begins in its window, and its weights.
__device__ constexpr int kFirst[WIDE] = {FIRSTS};
__device__ constexpr float kWeight[WIDE * TAPS] = {WEIGHTS};
__device__ __forceinline__ bool is_usual(const Place& p, int window, int v) {
  bool same = p.first == window + kFirst[v];
  #pragma unroll
  for (int t = 0; t < TAPS && TAPS > 1; ++t) same = same && fabsf(p.weight[t] - kWeight[v * TAPS + t]) < 1e-6f;
  return same;
}
struct Window {
  Words<WINDOW> inner;
  T before[BEFORE ? BEFORE : 1], behind[BEHIND ? BEHIND : 1];
  template <class C> __device__ __forceinline__ void get(const T* line, const C& c) {
    inner = fetch<WINDOW>(line + c.window);
    #pragma unroll
    for (int i = 0; i < BEFORE; ++i) before[i] = line[within(c.window + i - BEFORE, c.extent)];
    #pragma unroll
    for (int i = 0; i < BEHIND; ++i) behind[i] = line[within(c.window + i + WINDOW, c.extent)];
  }
  __device__ __forceinline__ T at(int i) const {   // counted from the window's first; always known to the compiler
    if (i < 0) return before[max(0, i + BEFORE)];
    return i < WINDOW ? element(inner, i) : behind[max(0, i - WINDOW)];
  }
  template <class C> __device__ __forceinline__ void mix(const C&, VALUE (&y)[WIDE]) const {
    float x[BEFORE + WINDOW + BEHIND];
    #pragma unroll
    for (int i = 0; i < BEFORE + WINDOW + BEHIND && TAPS > 1; ++i) x[i] = LOADED(at(i - BEFORE));
    #pragma unroll
    for (int v = 0; v < WIDE; ++v) {
      if (TAPS == 1) {
        y[v] = (VALUE)at(kFirst[v]);
        continue;
      }
      float sum = 0.f;
      #pragma unroll
      for (int t = 0; t < TAPS; ++t)
        if (kWeight[v * TAPS + t] != 0.f) sum = fmaf(kWeight[v * TAPS + t], x[BEFORE + kFirst[v] + t], sum);
      y[v] = (VALUE)sum;
    }
  }
};
#endif
// Element by element; channels lie side by side, and are mixed alike.
template <int V> struct Any {
#if LAST
  Words<V> x[TAPS];
  __device__ __forceinline__ void get(const T* line, const Columns<V>& c) {
    #pragma unroll
    for (int t = 0; t < TAPS; ++t) x[t] = fetch<V>(line + c.offset[0][t]);
  }
  __device__ __forceinline__ T at(int v, int t) const { return element(x[t], v); }
#else
  T x[V][TAPS];
  __device__ __forceinline__ void get(const T* line, const Columns<V>& c) {
    #pragma unroll
    for (int v = 0; v < V; ++v)
      #pragma unroll
      for (int t = 0; t < TAPS; ++t) x[v][t] = line[c.offset[v][t]];
  }
  __device__ __forceinline__ T at(int v, int t) const { return x[v][t]; }
#endif
  __device__ __forceinline__ void mix(const Columns<V>& c, VALUE (&y)[V]) const {
    #pragma unroll
    for (int v = 0; v < V; ++v) {
      if (TAPS == 1) {
        y[v] = (VALUE)at(v, 0);
        continue;
      }
      float sum = 0.f;
      #pragma unroll
      for (int t = 0; t < TAPS; ++t) {
        const float weight = c.weight[LAST ? 0 : v][t];
        sum = fmaf(weight, weight != 0.f ? LOADED(at(v, t)) : 0.f, sum);
      }
      y[v] = (VALUE)sum;
    }
  }
};
)";

constexpr const char* kWalk = R"(
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
        raw[t].get(image + (OFFSET)within(deep.first + t, a.in[0]) * (OFFSET)a.xs[2] + (OFFSET)row * (OFFSET)a.xs[3], c);
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
  const T* image = a.x + (i64)rest * a.xs[0] + (i64)channel * a.xs[1];
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
    for (int t = 0; t < TAPS; ++t) c.offset[v][t] = (OFFSET)within(p.first + t, a.in[2]) * (OFFSET)a.xs[4], c.weight[v][t] = p.weight[t];
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
)";

}  // namespace

std::string resize_parts() { return cat(kPlaces, kFetch, kWalk); }

}  // namespace tenfold::backends::cuda
