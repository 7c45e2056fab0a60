// Printing the kernels of Resize.
#include "backends/cuda/codegen/resize.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"
#include "ops/resize/resize_common.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

// Rounded after every operation, as the reference does: which elements are mixed depends on it.
constexpr const char* kPlaces = R"(
struct Arguments { const T* x; const float* scales; T* y; i64 items, channels, xs[5]; int in[3], out[3]; float scale[3];
                   u32 strips, by_windows; };
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
    const float scale = SIZES ? a.scale[d] : a.scales[d - (3 - AXES) + 2];
    if (a.in[d] != a.out[d] || scale != 1.f) x = coordinate(x, scale, (float)a.in[d], a.out[d]);
  }
  constexpr float kBeyond = TAPS == 4 ? 2.f : 1.f;   // further out nothing changes
  x = fminf(fmaxf(x, -kBeyond), (float)a.in[d] - 1.f + kBeyond);
  Place p;
  if (TAPS == 1) {
    p.first = (int)(NEAREST == 0 ? floorf(x) : NEAREST == 1 ? ceilf(x) : NEAREST == 2 ? floorf(__fadd_rn(x, .5f)) : ceilf(__fsub_rn(x, .5f)));
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

// VALUE is what a row's resampled elements are held as: the elements themselves where the nearest is taken, else f32.
constexpr const char* kWalk = R"(
#if WINDOW
__device__ constexpr int kFirst[WIDE] = {FIRSTS};   // of the elements of a vector, in its window
#endif
template <int V> struct Columns { OFFSET offset[LAST ? 1 : V][TAPS]; float weight[LAST ? 1 : V][TAPS]; int window, extent; };
// Elements of one row of the source, resampled along it.
template <int V, bool WINDOWS> __device__ __forceinline__ void along(const T* line, const Columns<V>& c, VALUE (&y)[V]) {
#if LAST
  #pragma unroll
  for (int t = 0; t < TAPS; ++t) {
    T x[V] = {};
    if (TAPS == 1 || c.weight[0][t] != 0.f) read<V>(line + c.offset[0][t], x);
    #pragma unroll
    for (int v = 0; v < V; ++v)
      if (TAPS == 1) y[v] = (VALUE)x[v];
      else y[v] = t == 0 ? c.weight[0][t] * LOADED(x[v]) : fmaf(c.weight[0][t], LOADED(x[v]), y[v]);
  }
#else
  T x[V][TAPS];
#if WINDOW
  if (WINDOWS) {
    constexpr int kAll = BEFORE + WINDOW + BEHIND;
    T w[kAll], inner[WINDOW];
    read<WINDOW>(line + c.window, inner);
    #pragma unroll
    for (int i = 0; i < kAll; ++i)
      w[i] = i >= BEFORE && i < BEFORE + WINDOW ? inner[i - BEFORE] : line[within(c.window + i - BEFORE, c.extent)];
    #pragma unroll
    for (int v = 0; v < V; ++v)
      #pragma unroll
      for (int t = 0; t < TAPS; ++t) x[v][t] = w[BEFORE + kFirst[v % WIDE] + t];
  } else
#endif
  {
    #pragma unroll
    for (int v = 0; v < V; ++v)
      #pragma unroll
      for (int t = 0; t < TAPS; ++t) x[v][t] = line[c.offset[v][t]];
  }
  #pragma unroll
  for (int v = 0; v < V; ++v)
    #pragma unroll
    for (int t = 0; t < TAPS; ++t) {
      if (TAPS == 1) y[v] = (VALUE)x[v][t];
      else {
        const float value = c.weight[v][t] != 0.f ? LOADED(x[v][t]) : 0.f;
        y[v] = t == 0 ? c.weight[v][t] * value : fmaf(c.weight[v][t], value, y[v]);
      }
    }
#endif
}
template <int V, bool WINDOWS>
__device__ __forceinline__ void walk(const Arguments& a, const T* image, const Columns<V>& c, const Place& deep, const Place* rows, int count,
                                     T* to, OFFSET step) {
  const auto load = [&](int row, VALUE (&y)[V]) {
    const T* line = image + (OFFSET)row * (OFFSET)a.xs[3];
    if (AXES < 3 || TAPS == 1) {
      along<V, WINDOWS>(line + (OFFSET)within(deep.first, a.in[0]) * (OFFSET)a.xs[2], c, y);
      return;
    }
    #pragma unroll
    for (int v = 0; v < V; ++v) y[v] = 0;
    #pragma unroll
    for (int t = 0; t < TAPS; ++t) {
      if (deep.weight[t] == 0.f) continue;
      VALUE x[V];
      along<V, WINDOWS>(line + (OFFSET)within(deep.first + t, a.in[0]) * (OFFSET)a.xs[2], c, x);
      #pragma unroll
      for (int v = 0; v < V; ++v) y[v] = (VALUE)fmaf(deep.weight[t], (float)x[v], (float)y[v]);
    }
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
    write<V>(to, y);
  }
}
template <int V> __device__ __forceinline__ void strips(const Arguments& a) {
  enter();
  __shared__ Place rows[ROWS];
  const u32 strip = blockIdx.x % a.strips, of_depth = ((u32)EXTENT(1) + ROWS - 1) / ROWS;
  const int depth = (int)(strip / of_depth), top = (int)(strip % of_depth) * ROWS, count = min(ROWS, (int)EXTENT(1) - top);
  for (int i = threadIdx.x; i < count; i += THREADS) rows[i] = place(a, 1, top + i);
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
  const int column = (int)(rest % along_row) * kColumns;
  rest /= along_row;
  const INDEX row = (rest * (INDEX)EXTENT(0) + depth) * (INDEX)EXTENT(1) + top;
  T* to = a.y + (LAST ? (row * (INDEX)EXTENT(2) + column) * (INDEX)CHANNELS + channel : row * (INDEX)EXTENT(2) + column);
  if (!LAST) channel = rest % (INDEX)CHANNELS, rest /= (INDEX)CHANNELS;
  const T* image = a.x + (i64)rest * a.xs[0] + (i64)channel * a.xs[1];
  Columns<V> c;
  c.extent = a.in[2], c.window = WINDOW ? column / V * WINDOW : 0;
  bool fits = WINDOW && V == WIDE && a.by_windows;
  #pragma unroll
  for (int v = 0; v < kColumns; ++v) {
    const Place p = place(a, 2, column + v);
#if WINDOW
    fits = fits && p.first == c.window + kFirst[v % WIDE];
#endif
    #pragma unroll
    for (int t = 0; t < TAPS; ++t) c.offset[v][t] = (OFFSET)within(p.first + t, a.in[2]) * (OFFSET)a.xs[4], c.weight[v][t] = p.weight[t];
  }
  const Place deep = place(a, 0, depth);
  const OFFSET step = (OFFSET)EXTENT(2) * (LAST ? (OFFSET)CHANNELS : 1);
#if WINDOW
  if (fits) return walk<V, true>(a, image, c, deep, rows, count, to, step);
#endif
  walk<V, false>(a, image, c, deep, rows, count, to, step);
}
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) vectors(const Arguments a) { strips<WIDE>(a); }
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) singles(const Arguments a) { strips<1>(a); }
)";

int one_of(const std::string& word, std::initializer_list<const char*> words) {
  int number = 0;
  for (const char* w : words) {
    if (word == w) return number;
    ++number;
  }
  return -1;
}

// Where vectors of a row lie over windows of the source that are alike: with a whole factor, say. The kernel compares each with what its
// scale makes of it, and reads element by element what differs.
struct Windows {
  int length = 0, before = 0, behind = 0;   // elements that are also read on both sides of it
  std::string firsts;
};
Windows windows_of(const Problem& p, int width, int taps) {
  const ir::Dim in = p.in[0].dims.back(), out = p.out[0].dims.back();
  if (p.in[0].layout == kChannelsLast || !in.is_constant() || !out.is_constant() || out.constant() < 1) return {};
  const int64_t length = width * in.constant() / out.constant();
  if (length < 1 || length > 4 * width || length * out.constant() != width * in.constant() || (length & (length - 1)) != 0) return {};
  Windows w;
  const ops::ResizeAxis axis{64 * length, int64_t{64} * width, static_cast<float>(width) / static_cast<float>(length)};
  for (int v = 0; v < width; ++v) {
    const auto first = static_cast<int>(ops::resize_taps(*p.attributes, axis, 32 * width + v).front().index - 32 * length);
    w.firsts += cat(v ? "," : "", first);
    w.before = std::max(w.before, -first), w.behind = std::max(w.behind, first + taps - static_cast<int>(length));
  }
  constexpr int kMostBeside = 4;
  if (w.before > kMostBeside || w.behind > kMostBeside) return {};
  w.length = static_cast<int>(length);
  return w;
}

}  // namespace

int resize_taps_of(const Problem& p) {
  const int mode = one_of(p.attributes->string("mode"), {"nearest", "linear", "cubic"});
  return mode < 0 ? 0 : 1 << mode;
}
int resize_transform_of(const Problem& p) {
  return one_of(p.attributes->string("coordinate_transformation_mode"),
                {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "half_pixel_symmetric"});
}

ResizeKernel generate_resize(const Problem& p, int rows) {
  const ir::Attributes& a = *p.attributes;
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  const DType t = p.in[0].dtype;
  const int taps = resize_taps_of(p), nearest = one_of(a.string("nearest_mode"), {"floor", "ceil", "round_prefer_ceil", "round_prefer_floor"});
  const std::size_t axes = y.size() - 2;
  const bool last = p.in[0].layout == kChannelsLast;
  ResizeKernel k;
  k.width = 16 * 8 / bits(t);
  const ir::Dim cut = last ? y[1] : y.back();
  while (k.width > 1 && cut.is_constant() && cut.constant() % k.width != 0) k.width /= 2;
  const Windows w = windows_of(p, k.width, taps);
  k.window = w.length;
  std::string extents = "a.out[d]";   // those that are known are divided by without a division
  for (std::size_t d = 0; d < axes; ++d)
    if (y[2 + d].is_constant()) extents = cat("(d) == ", 3 - axes + d, " ? ", y[2 + d].constant(), " : ", extents);
  for (std::size_t d = 0; d + axes < 3; ++d) extents = cat("(d) == ", d, " ? 1 : ", extents);
  constexpr int64_t kMost32 = (int64_t{1} << 31) - 1;
  const bool narrow = p.bounds(ir::product(y)).upper <= kMost32 && p.bounds(ir::product(x)).upper <= kMost32 && p.in[0].dense;
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("T", storage_type(t)), define("LOADED(x)", loaded(t, "(x)")), define("STORED(x)", stored(t, "(x)"));
  define("VALUE", taps == 1 ? storage_type(t) : "float"), define("TAPS", taps), define("AXES", axes), define("ROWS", rows);
  define("TRANSFORM", resize_transform_of(p)), define("NEAREST", nearest < 0 ? 3 : nearest), define("LAST", last ? 1 : 0);
  define("CUBIC", cat("__int_as_float(", std::bit_cast<std::int32_t>(static_cast<float>(a.number("cubic_coeff_a"))), ")"));
  define("EXCLUDES", a.integer("exclude_outside") != 0 ? "true" : "false");
  define("SIZES", p.in.size() > 3 && !p.in[3].missing ? "true" : "false"), define("THREADS", kResizeThreads);
  define("BLOCKS", taps == 1 ? 4 : taps == 2 && axes < 3 ? 3 : 2), define("WIDE", k.width), define("WINDOW", w.length), define("FIRSTS", w.firsts);
  define("BEFORE", w.before), define("BEHIND", w.behind), define("INDEX", narrow ? "u32" : "u64");
  define("OFFSET", narrow ? "int" : "i64"), define("EXTENT(d)", cat("(", extents, ")"));
  define("CHANNELS", y[1].is_constant() ? cat(y[1].constant()) : "a.channels");
  k.source = cat(prelude(), head, kPlaces, kWalk);
  return k;
}

}  // namespace tenfold::backends::cuda
