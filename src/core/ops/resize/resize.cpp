// Resize: resamples along any axes, by nearest element, linear or cubic filters. Operands: data, roi, scales, sizes.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/types/element.h"
#include "ops/index_map.h"
#include "ops/real_access.h"
#include "ops/resize/resize_common.h"

namespace tenfold::ir {
namespace {

using ops::ResizeAxis;

// The axes that scales, sizes and roi speak of; all if the attribute is left out.
std::vector<std::size_t> axes_of(const Attributes& attributes, std::size_t rank) {
  std::vector<std::size_t> axes;
  const Ints given = attributes.ints("axes", {});
  for (std::int64_t axis : given) {
    const std::int64_t wrapped = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
    check_shape(wrapped >= 0 && wrapped < static_cast<std::int64_t>(rank), "axis ", axis, " is out of range for ", rank, " dimensions");
    const auto unsigned_axis = static_cast<std::size_t>(wrapped);
    validate(std::find(axes.begin(), axes.end(), unsigned_axis) == axes.end(), "axes names axis ", axis, " twice");
    axes.push_back(unsigned_axis);
  }
  for (std::size_t i = 0; given.empty() && i < rank; ++i) axes.push_back(i);
  return axes;
}

void need_count(std::size_t found, std::size_t expected, const char* what) {
  check_shape(found == expected, what, " has ", found, " values, expected ", expected);
}

// Sizes under a policy that keeps the aspect ratio: one scale for all axes.
std::optional<float> common_scale(const Attributes& attributes, const std::vector<double>& ratios) {
  const std::string& policy = attributes.string("keep_aspect_ratio_policy");
  if (policy == "stretch" || ratios.empty()) return std::nullopt;
  return static_cast<float>(policy == "not_larger" ? *std::min_element(ratios.begin(), ratios.end())
                                                   : *std::max_element(ratios.begin(), ratios.end()));
}

// Extents that only the data tells, once the node runs.
Dims unknown(InferCall& call, Dims dims, const std::vector<std::size_t>& axes) {
  for (std::size_t axis : axes) dims[axis] = call.new_symbol(cat("extent", axis), 0, kUnbounded);
  return dims;
}

Dims sized(InferCall& call, Dims dims, const std::vector<std::size_t>& axes) {
  if (call.contents(3) == nullptr) return unknown(call, dims, axes);
  const Dims& sizes = *call.contents(3);
  need_count(sizes.size(), axes.size(), "sizes");
  if (call.attributes().string("keep_aspect_ratio_policy") == "stretch") {
    for (std::size_t i = 0; i < axes.size(); ++i) dims[axes[i]] = sizes[i];
    return dims;
  }
  std::vector<double> ratios;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!sizes[i].is_constant() || !dims[axes[i]].is_constant()) return unknown(call, dims, axes);
    call.check_shape(dims[axes[i]].constant() > 0, "resizing an extent of 0");
    ratios.push_back(static_cast<double>(sizes[i].constant()) / static_cast<double>(dims[axes[i]].constant()));
  }
  const float scale = common_scale(call.attributes(), ratios).value_or(1.0f);
  for (std::size_t axis : axes)
    dims[axis] = ops::whole_extent(std::floor(scale * static_cast<float>(dims[axis].constant()) + 0.5f));
  return dims;
}

Dims scaled(InferCall& call, Dims dims, const std::vector<std::size_t>& axes) {
  const Tensor* scales = call.constant(2);
  if (scales == nullptr) return unknown(call, dims, axes);
  need_count(static_cast<std::size_t>(scales->size()), axes.size(), "scales");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    dims[axes[i]] = ops::scaled_extent(dims[axes[i]], static_cast<float>(scales->as_double(static_cast<std::int64_t>(i))));
  }
  return dims;
}

void infer(InferCall& call) {
  ops::expect_resize_modes(call.attributes());
  Dims dims = call.dims(0);
  const std::vector<std::size_t> axes = axes_of(call.attributes(), dims.size());
  if (call.has(3)) {
    dims = sized(call, dims, axes);
  } else {
    call.validate(call.has(2), "a Resize needs scales or sizes");
    dims = scaled(call, dims, axes);
  }
  for (const Dim& dim : dims) call.check_shape(!dim.is_constant() || dim.constant() >= 0, "a Resize to the extent ", dim.text());
  call.out(0, call.dtype(0), dims);
}

std::vector<ResizeAxis> resolve(const Call& call) {
  const Attributes& attributes = call.attributes();
  const Shape &in = call.in[0].shape, &out = call.out[0].shape;
  const std::vector<std::size_t> axes = axes_of(attributes, in.size());
  std::vector<ResizeAxis> result(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) result[i].input = in[i], result[i].output = out[i];
  std::vector<double> ratios;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = result[axes[i]];
    const auto at = static_cast<std::int64_t>(i), count = static_cast<std::int64_t>(axes.size());
    if (call.has(3)) {
      ratios.push_back(load_double(call.in[3].dtype, call.in[3].data, at) / static_cast<double>(axis.input));
      axis.scale = static_cast<float>(ratios.back());
    } else {
      axis.scale = static_cast<float>(load_double(call.in[2].dtype, call.in[2].data, at));
    }
    if (!call.has(1) || call.in[1].size() == 0) continue;
    need_count(static_cast<std::size_t>(call.in[1].size()), 2 * axes.size(), "roi");
    axis.start = static_cast<float>(load_double(call.in[1].dtype, call.in[1].data, at));
    axis.end = static_cast<float>(load_double(call.in[1].dtype, call.in[1].data, count + at));
  }
  if (const auto scale = common_scale(attributes, ratios)) {
    for (std::size_t axis : axes) result[axis].scale = *scale;
  }
  return result;
}

// Resamples along one dim of [outer, input, inner]; what lies outside becomes `outside`, whatever later dims do to it.
std::vector<double> along(const std::vector<double>& x, std::int64_t outer, std::int64_t inner, const ResizeAxis& axis,
                          const Attributes& attributes, double outside) {
  std::vector<double> y(static_cast<std::size_t>(outer * axis.output * inner));
  for (std::int64_t i = 0; i < axis.output; ++i) {
    const std::vector<ops::Tap> taps = ops::resize_taps(attributes, axis, i);
    for (std::int64_t o = 0; o < outer; ++o) {
      double* to = y.data() + (o * axis.output + i) * inner;
      if (taps.empty()) std::fill(to, to + inner, outside);
      for (const ops::Tap& tap : taps) {
        const double* from = x.data() + (o * axis.input + tap.index) * inner;
        for (std::int64_t j = 0; j < inner; ++j) to[j] += tap.weight * from[j];
      }
    }
  }
  return y;
}

// Each element is one of the input's, or `outside`: elements move as they are.
void pick_nearest(const Call& call, const std::vector<ResizeAxis>& axes, double outside) {
  const TensorRef &from = call.in[0], &to = call.out[0];
  const Shape strides = ops::row_major_strides(from.shape);
  ops::IndexMap map;
  bool leaves = false;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    map.add_dim(axes[d].output, 0, ops::IndexMap::kNone);
    for (std::int64_t i = 0; i < axes[d].output; ++i) {
      const std::vector<ops::Tap> taps = ops::resize_taps(call.attributes(), axes[d], i);
      if (taps.empty()) leaves = true;
      else map.offsets[d][static_cast<std::size_t>(i)] = taps[0].index * strides[d];
    }
  }
  for (std::int64_t i = 0; leaves && i < to.size(); ++i) store_double(to.dtype, to.data, i, outside);
  copy(map, from, to);
}

void reference(Call& call) {
  const std::vector<ResizeAxis> axes = resolve(call);
  const bool crop = call.attributes().string("coordinate_transformation_mode") == "tf_crop_and_resize";
  const double outside = call.attributes().number("extrapolation_value");
  if (call.out[0].size() == 0) return;
  call.check_shape(call.in[0].size() > 0, "resizing an empty tensor");
  if (call.attributes().string("mode") == "nearest") return pick_nearest(call, axes, outside);
  std::vector<double> values = ops::exactly_converted(call, 0);
  Shape shape = call.in[0].shape;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].identity() && !crop) continue;
    const ops::AxisView view(shape, static_cast<std::int64_t>(d));
    values = along(values, view.outer, view.inner, axes[d], call.attributes(), outside);
    shape[d] = axes[d].output;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    store_double(call.out[0].dtype, call.out[0].data, static_cast<std::int64_t>(i), values[i]);
}

}  // namespace

OpDef op_resize() {
  return {
      .name = "Resize",
      .min_inputs = 3,
      .max_inputs = 4,
      .types = "T, float?, float?, int -> T; T: dense",
      .attributes = {{"antialias", 0},
                     {"coordinate_transformation_mode", "half_pixel"},
                     {"cubic_coeff_a", -0.75f},
                     {"exclude_outside", 0},
                     {"extrapolation_value", 0.0f},
                     {"keep_aspect_ratio_policy", "stretch"},
                     {"mode", "nearest"},
                     {"nearest_mode", "round_prefer_floor"}},
      .optional_attributes = "axes: ints",
      .infer = infer,
      .reference = reference,
      .traits = {.narrows = true},
      .cases = {"f32[1,2,4,5] _ f32[2]{2,2} axes=[2,3] coordinate_transformation_mode=\"asymmetric\" nearest_mode=\"floor\"",
                "f32[1,2,4,5] _ f32[2]{2.5,1.5} axes=[2,3] mode=\"linear\"",
                "f32[2,3,7,6] _ _ i64[4]{2,3,10,11} mode=\"linear\" coordinate_transformation_mode=\"align_corners\"",
                "f32[1,2,6,6] _ _ i64[2]{9,4} axes=[2,3] mode=\"cubic\"",
                "f32[1,3,4,5] _ f32[4]{1,1.2,2,1} mode=\"linear\"", "f32[1,2,4,5] _ f32[4]{1,1,1.1,2}",
                "f32[1,1,8,8] _ f32[2]{0.5,0.5} axes=[2,3] mode=\"linear\" antialias=1",
                "f32[1,1,8,8] _ f32[2]{0.6,0.6} axes=[2,3] mode=\"cubic\" exclude_outside=1",
                "f32[1,1,4,4] f32[8]{0,0,0.2,0.3,1,1,0.8,1.2} _ i64[4]{1,1,3,3} mode=\"linear\" "
                "coordinate_transformation_mode=\"tf_crop_and_resize\" extrapolation_value=10.0",
                "f32[1,2,5] _ f32[1]{3} axes=[2]", "u8[1,2,3,3] _ _ i64[4]{1,2,6,5}",
                "bf16[1,35,4,5] _ f32[2]{2,2} axes=[2,3] coordinate_transformation_mode=\"asymmetric\" nearest_mode=\"floor\"",
                "bf16[2,19,4,5] _ _ i64[4]{2,19,7,9} mode=\"linear\""}};
}

}  // namespace tenfold::ir
