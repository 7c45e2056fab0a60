// The arithmetic of a resize that reference kernels and kernels for CPUs share: coordinates in floats, as in other runtimes, so that
// roundings agree, the element nearest to one, and weights of a cubic.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace tenfold::ops {

enum class ResizeTransform : std::uint8_t {
  half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn, tf_crop_and_resize, count_
};
enum class ResizeNearest : std::uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil, count_ };

namespace detail {
// Of the enum's names in order; count_: none of them.
template <class Enum, std::size_t n>
Enum named(const std::array<std::string_view, n>& names, std::string_view name) {
  std::size_t i = 0;
  while (i < n && names[i] != name) ++i;
  return static_cast<Enum>(i);
}
}  // namespace detail

inline ResizeTransform resize_transform(std::string_view name) {
  return detail::named<ResizeTransform>(std::to_array<std::string_view>({"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
      "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}), name);
}
inline ResizeNearest resize_nearest(std::string_view name) {
  return detail::named<ResizeNearest>(std::to_array<std::string_view>({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}), name);
}

// Where output place `x` of `out` lies among `in` elements; not for tf_crop_and_resize, whose region decides.
inline float resize_coordinate(ResizeTransform transform, float x, float scale, float in, float out) {
  const float requested = scale * in;   // the extent before it was rounded down
  switch (transform) {
    case ResizeTransform::half_pixel_symmetric: return in / 2 * (1 - out / requested) + (x + 0.5f) / scale - 0.5f;
    case ResizeTransform::pytorch_half_pixel: return out > 1 ? (x + 0.5f) / scale - 0.5f : 0.0f;
    case ResizeTransform::align_corners: return requested == 1 ? 0.0f : x * (in - 1) / (requested - 1);
    case ResizeTransform::asymmetric: return x / scale;
    case ResizeTransform::tf_half_pixel_for_nn: return (x + 0.5f) / scale;
    default: return (x + 0.5f) / scale - 0.5f;
  }
}

// A double holds a float and a half exactly.
inline double nearest_element(ResizeNearest nearest, double x) {
  switch (nearest) {
    case ResizeNearest::round_prefer_ceil: return std::floor(x + 0.5);
    case ResizeNearest::floor: return std::floor(x);
    case ResizeNearest::ceil: return std::ceil(x);
    default: return std::ceil(x - 0.5);
  }
}

// Of an element at that distance, by Keys's cubic with the coefficient `a`.
inline double cubic_weight(double distance, double a) {
  const double d = std::fabs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

}  // namespace tenfold::ops
