// Printing the kernels of Resize.
#include "backends/cuda/codegen/resize/resize.h"

#include <algorithm>
#include <bit>
#include <iomanip>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"
#include "ops/resize/resize_common.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

int one_of(const std::string& word, std::initializer_list<const char*> words) {
  int number = 0;
  for (const char* w : words) {
    if (word == w) return number;
    ++number;
  }
  return -1;
}

// Where vectors of a row lie over windows of the source that are alike: with a factor of 2, say. The kernel compares each with what its
// scale makes of it, and reads element by element what differs.
struct Windows {
  int length = 0, before = 0, behind = 0;   // elements that are also read on both sides of it
  std::string firsts, weights;
};
Windows windows_of(const Problem& p, int width, int taps) {
  const ir::Dim in = p.in[0].dims.back(), out = p.out[0].dims.back();
  if (p.in[0].layout == kChannelsLast || !in.is_constant() || !out.is_constant() || out.constant() < 1) return {};
  const int64_t length = width * in.constant() / out.constant();
  if (length < 1 || length > 4 * width || length * out.constant() != width * in.constant() || (length & (length - 1)) != 0) return {};
  Windows w;
  const ops::ResizeAxis axis{64 * length, int64_t{64} * width, static_cast<float>(width) / static_cast<float>(length)};
  for (int v = 0; v < width; ++v) {
    const std::vector<ops::Tap> mixed = ops::resize_taps(*p.attributes, axis, 32 * width + v);
    const auto first = static_cast<int>(mixed.front().index - 32 * length);
    w.firsts += cat(v ? "," : "", first);
    for (std::size_t t = 0; t < static_cast<std::size_t>(taps); ++t)
      w.weights += cat(v || t ? "," : "", std::showpoint, std::setprecision(9), t < mixed.size() ? mixed[t].weight : 0., "f");
    w.before = std::max(w.before, -first), w.behind = std::max(w.behind, first + taps - static_cast<int>(length));
  }
  constexpr int kMaxBeside = 4;
  if (w.before > kMaxBeside || w.behind > kMaxBeside) return {};
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

ResizeKernel generate_resize(const Problem& p, int rows, int blocks) {
  const ir::Attributes& a = *p.attributes;
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  const DType t = p.in[0].dtype;
  const int taps = resize_taps_of(p);
  const int nearest = one_of(a.string("nearest_mode"), {"floor", "ceil", "round_prefer_ceil", "round_prefer_floor"});
  const std::size_t axes = y.size() - 2;
  const bool last = p.in[0].layout == kChannelsLast;
  ResizeKernel k;
  k.width = 16 * 8 / bits(t);
  const ir::Dim cut = last ? y[1] : y.back();
  while (k.width > 1 && cut.is_constant() && cut.constant() % k.width != 0) k.width /= 2;
  // Rows that no vector divides: some elements of a thread, as far apart as the row's first threads, so that stores lie side by side.
  if (k.width == 1 && !last && cut.is_constant())
    for (int apart : {4, 3, 5, 7, 2})
      if (k.width == 1 && cut.constant() % apart == 0 && cut.constant() >= 8 * apart) k.width = apart, k.apart = true;
  const Windows w = k.apart ? Windows{} : windows_of(p, k.width, taps);
  k.window = w.length;
  std::string extents = "a.out[d]";   // those that are known are divided by without a division
  for (std::size_t d = 0; d < axes; ++d)
    if (y[2 + d].is_constant()) extents = cat("(d) == ", 3 - axes + d, " ? ", y[2 + d].constant(), " : ", extents);
  for (std::size_t d = 0; d + axes < 3; ++d) extents = cat("(d) == ", d, " ? 1 : ", extents);
  constexpr int64_t kMax32 = (int64_t{1} << 31) - 1;
  const bool narrow = p.bounds(ir::product(y)).upper <= kMax32 && p.bounds(ir::product(x)).upper <= kMax32 && p.in[0].dense;
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  define("T", storage_type(t)), define("LOADED(x)", loaded(t, "(x)")), define("STORED(x)", stored(t, "(x)"));
  define("VALUE", taps == 1 ? storage_type(t) : "float"), define("TAPS", taps), define("AXES", axes), define("ROWS", rows);
  define("TRANSFORM", resize_transform_of(p)), define("NEAREST", nearest < 0 ? 3 : nearest), define("LAST", last ? 1 : 0);
  define("CUBIC", cat("__int_as_float(", std::bit_cast<std::int32_t>(static_cast<float>(a.number("cubic_coeff_a"))), ")"));
  define("EXCLUDES", a.integer("exclude_outside") != 0 ? "true" : "false");
  define("SIZES", p.in.size() > 3 && !p.in[3].missing ? "true" : "false"), define("THREADS", kResizeThreads);
  define("BLOCKS", blocks), define("WIDE", k.width), define("APART", k.apart ? 1 : 0), define("WINDOW", w.length);
  define("FIRSTS", w.firsts), define("WEIGHTS", w.weights);
  define("BEFORE", w.before), define("BEHIND", w.behind), define("INDEX", narrow ? "u32" : "u64");
  define("OFFSET", narrow ? "int" : "i64"), define("EXTENT(d)", cat("(", extents, ")"));
  define("CHANNELS", y[1].is_constant() ? cat(y[1].constant()) : "a.channels");
  constexpr int64_t kMaxColumns = 512;
  const bool few = y.back().is_constant() && y.back().constant() <= kMaxColumns;
  define("COLUMNS", few ? y.back().constant() : 0);
  const ir::Dim above = axes > 1 ? x[x.size() - 2] : 1, below = axes > 1 ? y[y.size() - 2] : 1;
  define("GROWS", above.is_constant() && below.is_constant() && above.constant() <= below.constant() && axes > 1 ? "true" : "false");
  k.source = text.of("resize/resize_strips.cu");
  return k;
}

}  // namespace tenfold::backends::cuda
