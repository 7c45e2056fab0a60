// roi_align_samples: RoiAlign of f32 in plain layout: places and weights of a region's samples once, then a walk over them for each
// channel.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "backends/cpu/tactics/movement_common.h"
#include "ops/pool/roi_place.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kMaxSamples = 1 << 14;   // of a region

struct Kernel {
  bool average, shifted;
  float scale;
  int64_t height, width, ratio;   // bins; samples of a bin along each dim
  DType image_type;
  int64_t samples() const { return height * width * ratio * ratio; }
};
struct Sample {
  std::int32_t at[4];   // corners in the plane; -1: the sample lies outside, and counts as 0
  float weight[4];
};

Kernel kernel_of(const Problem& p) {
  const ir::Attributes& a = *p.attributes;
  return {a.string("mode") == "avg",    a.string("coordinate_transformation_mode") == "half_pixel",
          a.number("spatial_scale"),    a.integer("output_height"),
          a.integer("output_width"),    a.integer("sampling_ratio"),
          p.in[2].dtype};
}
Verdict supports(const Problem& p) {
  if (Verdict v = no_epilogue(p); !v) return v;
  if (p.in[0].dtype != DType::f32 || p.in[1].dtype != DType::f32) return Verdict::no("images or regions are not f32");
  if (p.in[2].dtype != DType::i64 && p.in[2].dtype != DType::i32) return Verdict::no("numbers of images are not i32 or i64");
  const Kernel k = kernel_of(p);
  if (k.ratio == 0) return Verdict::no("each region has as many samples as its size asks for");
  if (k.height > kMaxSamples || k.width > kMaxSamples || k.ratio > 64 || k.height * k.width > kMaxSamples || k.samples() > kMaxSamples)
    return Verdict::no(cat("a region has more than ", kMaxSamples, " samples"));
  if (p.bounds(p.in[0].dims[2] * p.in[0].dims[3]).upper > std::numeric_limits<std::int32_t>::max())
    return Verdict::no("planes are too large");
  return dense_plain(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) { return std::make_shared<Kernel>(kernel_of(p)); }
ir::Dim worker_scratch(const Problem& p, const Config&) { return kernel_of(p).samples() * static_cast<int64_t>(sizeof(Sample)); }

// All samples of a region, bin by bin; false: its numbers are no region.
bool prepare(const Kernel& k, const float* region, int64_t height, int64_t width, Sample* samples) {
  const float shift = k.shifted ? 0.5f : 0.f, left = region[0] * k.scale - shift, top = region[1] * k.scale - shift;
  float x = region[2] * k.scale - shift - left, y = region[3] * k.scale - shift - top;
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(left) || !std::isfinite(top)) return false;
  if (!k.shifted) x = std::max(x, 1.f), y = std::max(y, 1.f);
  const float bin_x = x / static_cast<float>(k.width), bin_y = y / static_cast<float>(k.height);
  for (int64_t by = 0; by < k.height; ++by)
    for (int64_t bx = 0; bx < k.width; ++bx)
      for (int64_t sy = 0; sy < k.ratio; ++sy)
        for (int64_t sx = 0; sx < k.ratio; ++sx) {
          const ops::RoiPlace r = ops::roi_place(top, bin_y, by * k.ratio + sy, k.ratio, height);
          const ops::RoiPlace c = ops::roi_place(left, bin_x, bx * k.ratio + sx, k.ratio, width);
          Sample& s = *samples++;
          s.at[0] = -1;
          if (r.outside || c.outside) continue;
          const auto at = [&](int64_t y, int64_t x) { return static_cast<std::int32_t>(y * width + x); };
          const auto down = static_cast<float>(r.beyond), right = static_cast<float>(c.beyond);
          s = {{at(r.low, c.low), at(r.low, c.high), at(r.high, c.low), at(r.high, c.high)},
               {(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right}};
        }
  return true;
}

float larger(float a, float b) { return b != b || a < b ? b : a; }   // NaN where either is

void pool(const Kernel& k, const float* plane, const Sample* samples, float* to) {
  const int64_t each = k.ratio * k.ratio;
  for (int64_t bin = 0; bin < k.height * k.width; ++bin, samples += each) {
    float result = k.average ? 0.f : -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < each; ++i) {
      const Sample& s = samples[i];
      if (s.at[0] < 0) {
        if (!k.average) result = larger(result, 0.f);
        continue;
      }
      const float a = s.weight[0] * plane[s.at[0]], b = s.weight[1] * plane[s.at[1]], c = s.weight[2] * plane[s.at[2]],
                  d = s.weight[3] * plane[s.at[3]];
      result = k.average ? result + ((a + b) + (c + d)) : larger(result, larger(larger(a, b), larger(c, d)));
    }
    to[bin] = k.average ? result / static_cast<float>(each) : result;
  }
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &regions = args.in[1], &image = args.in[2];
  const int64_t count = args.out[0].dims[0], channels = x.dims[1], plane = x.dims[2] * x.dims[3], bins = k.height * k.width;
  if (regions.dims[0] != count || regions.dims[1] != 4 || image.dims[0] != count) return Status::invalid_shape;
  if (count * channels * bins == 0) return Status::ok;
  if (plane == 0) return Status::invalid_shape;
  std::atomic<bool> refused{false};
  args.parallel->for_each(count, [&](int64_t r, int worker) {
    auto* samples = args.scratch_of<Sample>(worker);
    const int64_t of = integer_at(image, k.image_type, r);
    if (of < 0 || of >= x.dims[0] || !prepare(k, regions.as<const float>() + r * 4, x.dims[2], x.dims[3], samples)) {
      refused.store(true, std::memory_order_relaxed);
      return;
    }
    for (int64_t c = 0; c < channels; ++c)
      pool(k, x.as<const float>() + (of * channels + c) * plane, samples, args.out[0].as<float>() + (r * channels + c) * bins);
  });
  return refused ? Status::invalid_input : Status::ok;
}

}  // namespace

Tactic cpu_roi_align_samples() {
  return {.name = "roi_align_samples",
          .ops = {"RoiAlign"},
          .supports = supports,
          .configs = one_config,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run,
          .cases = {"RoiAlign f32[2,9,19,18] f32[3,4]{0,0,6,6,1.5,2,9,7.5,-1,-2,20,4} i64[3]{0,1,1} output_height=7 output_width=5 "
                    "sampling_ratio=2 spatial_scale=0.5",
                    "RoiAlign f32[1,5,9,8] f32[2,4]{0,0,6,6,1,1,1,1} i32[2]{0,0} output_height=2 output_width=2 sampling_ratio=3 "
                    "mode=\"max\" coordinate_transformation_mode=\"output_half_pixel\""}};
}

}  // namespace tenfold::backends
