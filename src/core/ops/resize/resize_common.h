// Where each output element of a resize reads its input: one rule for coordinates, one for the weights around them.
#pragma once

#include <optional>
#include <string_view>

#include "ir/op_def.h"

namespace tenfold::ops {

// One dim of a resize. `scale` is what coordinates are computed with; it need not be output / input exactly.
struct ResizeAxis {
  std::int64_t input = 1, output = 1;
  float scale = 1, start = 0, end = 1;  // start and end: the region of interest, for tf_crop_and_resize
  bool identity() const { return input == output && scale == 1.0f; }
};

// Whether `scale` is output / input, as far as a float tells. The nearest element is chosen by the extents then (RatioCoordinates):
// behind the rounding of a third or a seventh, another element would often be nearer.
inline bool is_ratio(std::int64_t input, std::int64_t output, float scale) {
  return static_cast<float>(static_cast<double>(output) / static_cast<double>(input)) == scale;
}
// Coordinates under a scale of output / input. They are one quotient of whole numbers, so that those on an element, or halfway between
// two, are exact.
struct RatioCoordinates {
  bool corners = false;               // the first and last elements of both lie on each other
  double from_start = 0, shift = 0;   // else: (i + from_start) / scale - shift
  double at(std::int64_t i, std::int64_t input, std::int64_t output) const {
    const auto x = static_cast<double>(i), in = static_cast<double>(input), out = static_cast<double>(output);
    if (corners) return output > 1 ? x * (in - 1) / (out - 1) : 0;
    return (2 * (x + from_start) * in - 2 * shift * out) / (2 * out);
  }
};
// Those of a coordinate_transformation_mode; none for tf_crop_and_resize, whose region decides.
std::optional<RatioCoordinates> ratio_coordinates(std::string_view transform, std::int64_t output);

struct Tap {
  std::int64_t index;
  double weight;
};
// The taps of output element i; empty if it lies outside the input and gets the extrapolation value.
std::vector<Tap> resize_taps(const ir::Attributes& attributes, const ResizeAxis& axis, std::int64_t i);

// Throws a fault unless the modes are those of the standard.
void expect_resize_modes(const ir::Attributes& attributes);

// An extent that was computed in floats; throws unless it is one.
std::int64_t whole_extent(double extent);
// floor(extent * scale); a scale that is a small fraction is taken as that fraction, so that symbols can be scaled too.
ir::Dim scaled_extent(ir::Dim extent, float scale);

}  // namespace tenfold::ops
