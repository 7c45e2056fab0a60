// Taps and extents of a resize.
#include "ops/resize/resize_common.h"

#include <algorithm>
#include <cmath>

#include "ops/resize/resize_rules.h"

namespace tenfold::ops {
namespace {

float coordinate(const std::string& mode, const ResizeAxis& axis, std::int64_t i) {
  const ResizeTransform transform = resize_transform(mode);
  ir::validate(transform != ResizeTransform::count_, "coordinate_transformation_mode is \"", mode, "\"");
  const auto x = static_cast<float>(i), in = static_cast<float>(axis.input), out = static_cast<float>(axis.output);
  if (transform != ResizeTransform::tf_crop_and_resize) return resize_coordinate(transform, x, axis.scale, in, out);
  if (axis.output == 1) return 0.5f * (axis.start + axis.end) * (in - 1);
  return axis.start * (in - 1) + x * (axis.end - axis.start) * (in - 1) / (out - 1);
}

std::int64_t nearest(const std::string& mode, double x) {
  const ResizeNearest known = resize_nearest(mode);
  ir::validate(known != ResizeNearest::count_, "nearest_mode is \"", mode, "\"");
  return static_cast<std::int64_t>(nearest_element(known, x));
}

// Input elements within reach of x, with weights; a filter for antialiasing is as wide as an output element.
std::vector<Tap> filter(const ir::Attributes& attributes, const ResizeAxis& axis, double x, bool linear) {
  const bool antialias = attributes.integer("antialias") != 0;
  const double narrow = antialias ? std::min(1.0, static_cast<double>(axis.scale)) : 1.0;
  const double reach = (linear ? 1 : 2) / narrow, a = attributes.number("cubic_coeff_a");
  ir::supported(reach < 1e6, "a resize by ", axis.scale, " with antialias");
  std::vector<Tap> taps;
  for (auto k = static_cast<std::int64_t>(std::floor(x - reach)) + 1; static_cast<double>(k) < x + reach; ++k) {
    const double distance = (static_cast<double>(k) - x) * narrow;
    taps.push_back({k, linear ? 1 - std::fabs(distance) : cubic_weight(distance, a)});
  }
  const bool exclude = attributes.integer("exclude_outside") != 0;
  if (exclude) std::erase_if(taps, [&](const Tap& t) { return t.index < 0 || t.index >= axis.input; });
  double sum = 0;
  for (const Tap& t : taps) sum += t.weight;
  for (Tap& t : taps) {
    if (exclude || antialias) t.weight /= sum;
    t.index = std::clamp<std::int64_t>(t.index, 0, axis.input - 1);
  }
  return taps;
}

}  // namespace

std::optional<RatioCoordinates> ratio_coordinates(std::string_view transform, std::int64_t output) {
  if (transform == "align_corners") return RatioCoordinates{.corners = true};
  if (transform == "asymmetric") return RatioCoordinates{};
  if (transform == "tf_half_pixel_for_nn") return RatioCoordinates{.from_start = 0.5};
  if (transform == "pytorch_half_pixel" && output <= 1) return RatioCoordinates{.corners = true};
  if (transform == "tf_crop_and_resize") return std::nullopt;
  return RatioCoordinates{.from_start = 0.5, .shift = 0.5};
}

std::vector<Tap> resize_taps(const ir::Attributes& attributes, const ResizeAxis& axis, std::int64_t i) {
  const std::string &transform = attributes.string("coordinate_transformation_mode"), &mode = attributes.string("mode");
  const bool crop = transform == "tf_crop_and_resize";
  if (axis.identity() && !crop) return {{i, 1.0}};
  const auto at = [&](double x) {
    return std::vector<Tap>{{std::clamp<std::int64_t>(nearest(attributes.string("nearest_mode"), x), 0, axis.input - 1), 1.0}};
  };
  const auto exact = ratio_coordinates(transform, axis.output);
  if (mode == "nearest" && exact && is_ratio(axis.input, axis.output, axis.scale)) return at(exact->at(i, axis.input, axis.output));
  const float x = coordinate(transform, axis, i);
  ir::check_shape(std::fabs(x) < 1e9f, "a resize reads its input at ", x);
  if (crop && (x < 0 || x > static_cast<float>(axis.input - 1))) return {};
  if (mode == "nearest") return at(x);
  ir::validate(mode == "linear" || mode == "cubic", "mode is \"", mode, "\"");
  return filter(attributes, axis, x, mode == "linear");
}

std::int64_t whole_extent(double extent) {
  ir::check_shape(extent >= 0 && extent < static_cast<double>(ir::kUnbounded), "a Resize to the extent ", extent);
  return static_cast<std::int64_t>(extent);
}

ir::Dim scaled_extent(ir::Dim extent, float scale) {
  ir::check_shape(std::isfinite(scale) && scale > 0 && scale < 1e6f, "a scale is ", scale, ", expected a positive number");
  for (std::int64_t q = 1; q <= 64; ++q) {
    const double p = std::nearbyint(static_cast<double>(scale) * static_cast<double>(q));
    if (p > 0 && static_cast<float>(p / static_cast<double>(q)) == scale) return floor_div(extent * static_cast<std::int64_t>(p), q);
  }
  ir::supported(extent.is_constant(), "scaling the symbolic extent ", extent.text(), " by ", scale,
                ", which is no small fraction; give `sizes` instead");
  return whole_extent(std::floor(static_cast<float>(extent.constant()) * scale));
}

void expect_resize_modes(const ir::Attributes& attributes) {
  const auto one_of = [&](const char* name, std::initializer_list<std::string_view> known) {
    const std::string& value = attributes.string(name);
    ir::validate(std::find(known.begin(), known.end(), value) != known.end(), name, " is \"", value, "\"");
  };
  one_of("mode", {"nearest", "linear", "cubic"});
  one_of("coordinate_transformation_mode", {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                                            "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  one_of("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  one_of("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
}

}  // namespace tenfold::ops
