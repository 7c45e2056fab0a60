// resize_taps: Resize over one to three spatial axes by nearest element or linearly, in both layouts, from tables of taps.
#include <cmath>
#include <cstring>
#include <utility>

#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/kernels/resize/resize.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "backends/problems/resize_axes.h"
#include "base/checked.h"
#include "ops/resize/resize_common.h"
#include "ops/resize/resize_rules.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  const ir::Attributes& a = *p.attributes;
  const std::string &mode = a.string("mode"), &transform = a.string("coordinate_transformation_mode");
  const auto rank = p.in[0].dims.size();
  if (p.in[0].dtype != DType::f32 && p.in[0].dtype != DType::bf16) return Verdict::no(cat("elements of type ", name(p.in[0].dtype)));
  if (p.in[0].dtype == DType::bf16 && p.in[0].layout != kChannelsLast) return Verdict::no("bf16 in a layout other than channels-last");
  if (rank < 3 || rank > 5) return Verdict::no("not one to three spatial dims");
  if (p.out[0].dims[0] != p.in[0].dims[0] || p.out[0].dims[1] != p.in[0].dims[1]) return Verdict::no("batch or channels are resized");
  if (!p.in[0].dense || !p.out[0].dense) return Verdict::no("an operand is strided");
  if (p.in[0].layout != p.out[0].layout) return Verdict::no("layouts differ");
  if (mode != "nearest" && mode != "linear") return Verdict::no("mode " + mode);
  if (transform != "half_pixel" && transform != "pytorch_half_pixel" && transform != "align_corners" && transform != "asymmetric")
    return Verdict::no("coordinates by " + transform);
  if (a.integer("antialias") != 0) return Verdict::no("antialias");
  if (a.string("keep_aspect_ratio_policy") != "stretch") return Verdict::no("the aspect ratio is kept");
  return resizes_spatial_axes(p);
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Layout> plain(p.in.size(), kPlain), last = plain;
  last[0] = kChannelsLast;
  if (p.in[0].dtype == DType::bf16) return {{last, {kChannelsLast}}};
  return {{plain, {kPlain}}, {last, {kChannelsLast}}};
}

struct Kernel {
  const ResizeKernels* kernels;
  ops::ResizeTransform transform;
  ops::ResizeNearest nearest;
  bool linear, by_sizes, channels_last, narrow;
  ops::RatioCoordinates exact;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  const std::string& transform = p.attributes->string("coordinate_transformation_mode");
  return std::make_shared<Kernel>(Kernel{&pick(p, tenfold_resize_avx2, tenfold_resize_avx512), ops::resize_transform(transform),
                                         ops::resize_nearest(p.attributes->string("nearest_mode")),
                                         p.attributes->string("mode") == "linear", p.in.size() > 3 && !p.in[3].missing,
                                         p.in[0].layout == kChannelsLast, p.in[0].dtype == DType::bf16,
                                         *ops::ratio_coordinates(transform, 2)});
}
ir::Dim workspace(const Problem& p, const Config&) {
  ir::Dim n = 64;
  for (std::size_t d = 2; d < p.out[0].dims.size(); ++d) n = n + p.out[0].dims[d];
  return n * ir::Dim(12);
}

// Left and right neighbor of every output position along one axis, and how far between them it lies.
struct Table {
  std::int32_t *left, *right;
  float* along;
};
void fill(const Kernel& k, const Table& table, int64_t in, int64_t out, float scale) {
  const bool one_by_pytorch = out <= 1 && k.transform == ops::ResizeTransform::pytorch_half_pixel;
  const bool by_extents = !k.linear && ops::is_ratio(in, out, scale) && !one_by_pytorch;
  const auto from = static_cast<float>(in), to = static_cast<float>(out);
  for (int64_t i = 0; i < out; ++i) {
    const auto place = static_cast<float>(i);
    float x = in == out && scale == 1.f ? place : ops::resize_coordinate(k.transform, place, scale, from, to);
    x = std::fmin(std::fmax(x, -1.f), static_cast<float>(in));  // beyond the edges all is clamped; NaN of odd scales as well
    if (!k.linear) {
      const double n = ops::nearest_element(k.nearest, by_extents ? k.exact.at(i, in, out) : static_cast<double>(x));
      table.left[i] = table.right[i] = static_cast<std::int32_t>(std::clamp<int64_t>(static_cast<int64_t>(n), 0, in - 1));
      table.along[i] = 0;
      continue;
    }
    const float low = std::floor(x);
    table.along[i] = x - low;
    table.left[i] = static_cast<std::int32_t>(std::clamp<int64_t>(static_cast<int64_t>(low), 0, in - 1));
    table.right[i] = static_cast<std::int32_t>(std::clamp<int64_t>(static_cast<int64_t>(low) + 1, 0, in - 1));
  }
}

// Up to eight corners: offsets in units of positions, and weights; corners of weight 0 are left out.
int corners(const Kernel& k, const Table* t, const ConvExtents& e, const int64_t* at, int axes, int64_t* offsets, float* weights) {
  int count = 0;
  for (int corner = 0; corner < (k.linear ? 1 << axes : 1); ++corner) {
    float weight = 1;
    int64_t offset = 0;
    for (int d = 0; d < axes; ++d) {
      const bool right = corner >> d & 1;
      weight *= right ? t[d].along[at[d]] : 1.f - t[d].along[at[d]];
      offset = offset * e.in[static_cast<std::size_t>(d)] + (right ? t[d].right : t[d].left)[at[d]];
    }
    if (weight == 0) continue;
    offsets[count] = offset;
    weights[count++] = weight;
  }
  return count;
}

// Rows [first, last) of the planes of a plain result, each from the nearest row of its plane; one that is picked twice is copied.
void pick_rows(const Kernel& k, const Table* t, const ConvExtents& e, const float* from, float* to, int64_t first, int64_t last) {
  const int64_t lines = e.out[0] * e.out[1], width = e.out[2];
  int64_t plane = first / lines, z = first % lines / e.out[1], y = first % e.out[1];
  const float* picked = nullptr;
  for (int64_t r = first; r < last; ++r) {
    const float* const row = from + ((plane * e.in[0] + t[0].left[z]) * e.in[1] + t[1].left[y]) * e.in[2];
    if (row == std::exchange(picked, row))
      std::memcpy(to + r * width, to + (r - 1) * width, static_cast<std::size_t>(width) * sizeof(float));
    else
      k.kernels->pick_row(row, t[2].left, width, to + r * width);
    if (++y == e.out[1]) y = 0, ++z;
    if (z == e.out[0]) z = 0, ++plane;
  }
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  const ConvExtents e(x, y);
  const int64_t channels = x.dims[1];
  if (e.rows() * channels == 0) return Status::ok;
  if (e.in[0] * e.in[1] * e.in[2] == 0) return Status::invalid_shape;
  Table tables[3];
  auto* memory = static_cast<std::int32_t*>(args.workspace);
  for (int d = 0; d < 3; ++d) {
    const int64_t in = e.in[static_cast<std::size_t>(d)], out = e.out[static_cast<std::size_t>(d)];
    const int axis = d - (3 - (x.rank - 2)) + 2;
    const float scale = axis < 2     ? 1.f
                        : k.by_sizes ? static_cast<float>(static_cast<double>(out) / static_cast<double>(in))
                                     : args.in[2].as<const float>()[axis - 2];
    tables[d] = {memory, memory + out, reinterpret_cast<float*>(memory + 2 * out)};
    memory += 3 * out;
    fill(k, tables[d], in, out, scale);
  }
  const float* from = x.as<const float>();
  float* to = y.as<float>();
  const int64_t positions_in = e.in[0] * e.in[1] * e.in[2], lines = e.out[0] * e.out[1];
  const int64_t rows = (k.channels_last ? e.batch : e.batch * channels) * lines;
  for_row_parts(
      *args.parallel, rows, rows_per_part(e.out[2] * (k.channels_last ? channels : 1) * 2), [&](int64_t first, int64_t last, int) {
        int64_t offsets[8];
        float weights[8];
        if (!k.linear && !k.channels_last) return pick_rows(k, tables, e, from, to, first, last);
        for (int64_t r = first; r < last; ++r) {
          int64_t at[3] = {r / e.out[1] % e.out[0], r % e.out[1], 0};
          if (k.channels_last) {
            const float* image = from + r / lines * positions_in * channels;
            for (; at[2] < e.out[2]; ++at[2]) {
              const int count = corners(k, tables, e, at, 3, offsets, weights);
              for (int c = 0; c < count; ++c) offsets[c] *= channels;
              const int64_t result = (r * e.out[2] + at[2]) * channels;
              if (k.narrow)
                k.kernels->blend_position_bf16(x.as<const std::uint16_t>() + r / lines * positions_in * channels, offsets, weights, count,
                                               channels, y.as<std::uint16_t>() + result);
              else
                k.kernels->blend_position(image, offsets, weights, count, channels, to + result);
            }
            continue;
          }
          const float* image = from + r / lines * positions_in;
          const int count = corners(k, tables, e, at, 2, offsets, weights);
          const float* lines_in[4];
          for (int c = 0; c < count; ++c) lines_in[c] = image + offsets[c] * e.in[2];
          k.kernels->blend_row(lines_in, weights, count, tables[2].left, tables[2].right, tables[2].along, e.out[2], to + r * e.out[2]);
        }
      });
  return Status::ok;
}

}  // namespace

Tactic cpu_resize_taps() {
  return {.name = "resize_taps",
          .version = 2,
          .ops = {"Resize"},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .workspace = workspace,
          .open = open,
          .run = run,
          .cases = {"Resize f32[2,19,13,17] _ _ i64[4]{2,19,29,40} mode=\"linear\"",
                    "Resize f32[1,2,30,26] _ _ i64[4]{1,2,32,7} coordinate_transformation_mode=\"asymmetric\" "
                    "nearest_mode=\"round_prefer_ceil\"",
                    "Resize f32[1,2,26,39] _ _ i64[4]{1,2,7,11} coordinate_transformation_mode=\"align_corners\" "
                    "nearest_mode=\"floor\"",
                    "Resize f32[1,5,6,7,8] _ f32[3]{2,2,2} axes=[2,3,4] mode=\"linear\" "
                    "coordinate_transformation_mode=\"align_corners\"",
                    "Resize f32[1,19,13,17] _ f32[2]{2,2} axes=[2,3] coordinate_transformation_mode=\"asymmetric\" "
                    "nearest_mode=\"floor\"",
                    "Resize f32[1,2,3,4,8] _ f32[3]{2,3,2} axes=[2,3,4] mode=\"linear\" "
                    "coordinate_transformation_mode=\"asymmetric\""}};
}

}  // namespace tenfold::backends
