// resize_lines: Resize by linear and cubic filters, with antialias or without, one spatial axis after the other, in plain layout. Each
// output place has a row of weights over neighboring inputs.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "backends/cpu/tactics/row_problem_common.h"
#include "backends/problems/resize_axes.h"
#include "base/checked.h"
#include "ops/resize/resize_rules.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kMaxTaps = 256;   // of an output place

struct Kernel {
  ops::ResizeTransform transform;
  bool linear, antialias, exclude_outside, by_sizes;
  double cubic_a;

  double reach(double scale) const { return (linear ? 1 : 2) / (antialias ? std::min(1.0, scale) : 1.0); }
};

Kernel kernel_of(const Problem& p) {
  const ir::Attributes& a = *p.attributes;
  return {ops::resize_transform(a.string("coordinate_transformation_mode")), a.string("mode") == "linear", a.integer("antialias") != 0,
          a.integer("exclude_outside") != 0, p.in.size() > 3 && !p.in[3].missing, a.number("cubic_coeff_a")};
}
// As many taps as an output place has at most along an axis: a scale is no less than the extents' ratio.
int64_t taps_of(const Kernel& k, int64_t in, int64_t out) {
  const double ratio = static_cast<double>(out) / static_cast<double>(std::max<int64_t>(in, 1));
  return 2 * static_cast<int64_t>(std::ceil(k.reach(std::min(1.0, ratio)))) + 1;
}

Verdict supports(const Problem& p) {
  if (Verdict v = no_epilogue(p); !v) return v;
  const ir::Attributes& a = *p.attributes;
  const auto rank = p.in[0].dims.size();
  if (p.in[0].dtype != DType::f32) return Verdict::no(cat("elements of type ", name(p.in[0].dtype)));
  if (rank < 3 || rank > 5) return Verdict::no("not one to three spatial dims");
  if (a.string("mode") == "nearest") return Verdict::no("resize_taps has the nearest element");
  if (const std::string& by = a.string("coordinate_transformation_mode"); by.starts_with("tf_")) return Verdict::no("coordinates by " + by);
  if (a.string("keep_aspect_ratio_policy") != "stretch") return Verdict::no("the aspect ratio is kept");
  if (p.out[0].dims[0] != p.in[0].dims[0] || p.out[0].dims[1] != p.in[0].dims[1]) return Verdict::no("batch or channels are resized");
  const Kernel k = kernel_of(p);
  for (std::size_t d = 2; d < rank; ++d) {
    const ir::Interval in = p.bounds(p.in[0].dims[d]), out = p.bounds(p.out[0].dims[d]);
    if (in.lower < 1 || out.lower < 1 || in.upper > (1 << 24) || out.upper > (1 << 24)) return Verdict::no("an extent may be 0, or huge");
    if (taps_of(k, in.upper, out.lower) > kMaxTaps) return Verdict::no(cat("an element may have more than ", kMaxTaps, " neighbors"));
  }
  if (Verdict v = dense_plain(p); !v) return v;
  return resizes_spatial_axes(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) { return std::make_shared<Kernel>(kernel_of(p)); }

// The largest table of an axis, and what each axis but the last makes.
constexpr int64_t kPlaceBytes = 2 * sizeof(std::int32_t) + kMaxTaps * sizeof(float);
template <class D>
D table_bytes(const D* out, int rank) {
  D places = 0;
  for (int d = 2; d < rank; ++d) places = places + out[d];
  return places * D(kPlaceBytes);
}
// Elements behind axis `axis`: those up to it have the result's extents.
template <class D>
D elements_behind(const D* in, const D* out, int rank, int axis) {
  D n = in[0] * in[1];
  for (int d = 2; d < rank; ++d) n = n * (d <= axis ? out[d] : in[d]);
  return n;
}
ir::Dim workspace(const Problem& p, const Config&) {
  const int rank = static_cast<int>(p.in[0].dims.size());
  const ir::Dim *in = p.in[0].dims.data(), *out = p.out[0].dims.data();
  ir::Dim bytes = table_bytes(out, rank);
  for (int d = 2; d + 1 < rank; ++d) bytes = bytes + elements_behind(in, out, rank, d) * ir::Dim(sizeof(float));
  return bytes;
}

// Where output places read along one axis: `count[i]` neighbors from `first[i]` on, with weights.
struct Table {
  std::int32_t *first, *count;
  float* weights;   // kMaxTaps for each place
};

double weight(const Kernel& k, double distance) {
  return k.linear ? std::max(0.0, 1 - std::fabs(distance)) : ops::cubic_weight(distance, k.cubic_a);
}

void fill_place(const Kernel& k, const Table& t, int64_t i, int64_t in, int64_t out, float scale) {
  if (in == out && scale == 1) {
    t.first[i] = static_cast<std::int32_t>(i), t.count[i] = 1, t.weights[i * kMaxTaps] = 1;
    return;
  }
  double sums[kMaxTaps] = {}, all = 0;
  const double x = ops::resize_coordinate(k.transform, static_cast<float>(i), scale, static_cast<float>(in), static_cast<float>(out));
  const double reach = k.reach(scale), narrow = k.antialias ? std::min(1.0, static_cast<double>(scale)) : 1;
  const auto inside = [&](int64_t at) { return std::clamp<int64_t>(at, 0, in - 1); };
  const auto from = static_cast<int64_t>(std::floor(x - reach)) + 1;
  const int64_t first = inside(from);
  int64_t last = first;
  for (int64_t at = from; static_cast<double>(at) < x + reach && at - from < kMaxTaps; ++at) {
    if (k.exclude_outside && (at < 0 || at >= in)) continue;
    const double w = weight(k, (static_cast<double>(at) - x) * narrow);
    last = inside(at);   // what lies outside is the border's element
    sums[last - first] += w;
    all += w;
  }
  const double divisor = k.exclude_outside || k.antialias ? all : 1;
  t.first[i] = static_cast<std::int32_t>(first), t.count[i] = static_cast<std::int32_t>(last - first + 1);
  for (int64_t n = 0; n <= last - first; ++n) t.weights[i * kMaxTaps + n] = static_cast<float>(sums[n] / divisor);
}

// to[j] = sum of weights[n] * from[n * step + j]
void blend(float* to, const float* from, int64_t step, const float* weights, int64_t count, int64_t width) {
  constexpr int64_t kBlock = 32;   // a count that the compiler knows, so that it makes vectors of it
  int64_t j = 0;
  for (; j + kBlock <= width; j += kBlock) {
    float sums[kBlock] = {};
    for (int64_t n = 0; n < count; ++n)
      for (int64_t b = 0; b < kBlock; ++b) sums[b] += weights[n] * from[n * step + j + b];
    std::memcpy(to + j, sums, sizeof sums);
  }
  for (; j < width; ++j) {
    float sum = 0;
    for (int64_t n = 0; n < count; ++n) sum += weights[n] * from[n * step + j];
    to[j] = sum;
  }
}

// One axis of [outer, in, inner].
void resample(Parallel& parallel, const Table& t, float* to, const float* from, int64_t outer, int64_t in, int64_t out, int64_t inner) {
  for_row_parts(parallel, outer * out, rows_per_part(inner * 8), [&](int64_t first, int64_t last, int) {
    for (int64_t r = first; r < last; ++r) {
      const int64_t i = r % out, o = r / out;
      blend(to + r * inner, from + (o * in + t.first[i]) * inner, inner, t.weights + i * kMaxTaps, t.count[i], inner);
    }
  });
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  for (int d = 2; d < x.rank; ++d)
    if (x.dims[d] < 1 || y.dims[d] < 1) return Status::invalid_shape;
  auto* memory = static_cast<char*>(args.workspace);
  auto* between = reinterpret_cast<float*>(memory + table_bytes(y.dims, y.rank));
  const float* from = x.as<const float>();
  int64_t outer = x.dims[0] * x.dims[1];
  for (int d = 2; d < x.rank; ++d) {
    const int64_t in = x.dims[d], out = y.dims[d];
    const float scale = k.by_sizes ? static_cast<float>(static_cast<double>(out) / static_cast<double>(in))
                                   : args.in[2].as<const float>()[d - 2];
    if (!(scale > 0) || !std::isfinite(scale)) return Status::invalid_input;
    const Table t{reinterpret_cast<std::int32_t*>(memory), reinterpret_cast<std::int32_t*>(memory) + out,
                  reinterpret_cast<float*>(memory) + 2 * out};
    for (int64_t i = 0; i < out; ++i) fill_place(k, t, i, in, out, scale);
    float* const to = d + 1 == x.rank ? y.as<float>() : std::exchange(between, between + elements_behind(x.dims, y.dims, x.rank, d));
    resample(*args.parallel, t, to, from, outer, in, out, product(x.dims, d + 1, x.rank));
    from = to;
    outer *= out;
  }
  return Status::ok;
}

}  // namespace

Tactic cpu_resize_lines() {
  return {.name = "resize_lines",
          .ops = {"Resize"},
          .supports = supports,
          .configs = one_config,
          .workspace = workspace,
          .open = open,
          .run = run,
          .cases = {"Resize f32[2,9,50,43] _ _ i64[4]{2,9,19,20} mode=\"linear\" antialias=1",
                    "Resize f32[1,3,30,26] _ f32[2]{0.6,1.7} axes=[2,3] mode=\"cubic\" antialias=1 "
                    "coordinate_transformation_mode=\"half_pixel_symmetric\"",
                    "Resize f32[1,3,30,60] _ f32[2]{2,2} axes=[2,3] mode=\"cubic\" coordinate_transformation_mode=\"align_corners\"",
                    "Resize f32[1,3,30,60] _ _ i64[4]{1,3,41,77} mode=\"cubic\" exclude_outside=1 "
                    "coordinate_transformation_mode=\"asymmetric\"",
                    "Resize f32[1,2,13,14,15] _ _ i64[5]{1,2,7,20,15} mode=\"linear\" antialias=1 "
                    "coordinate_transformation_mode=\"pytorch_half_pixel\""}};
}

}  // namespace tenfold::backends
