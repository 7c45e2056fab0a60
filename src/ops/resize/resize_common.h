// Where each output element of a resize reads its input: one rule for coordinates, one for the weights around them.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ops {

// One dim of a resize. `scale` is what coordinates are computed with; it need not be output / input exactly.
struct ResizeAxis {
  std::int64_t input = 1, output = 1;
  float scale = 1, start = 0, end = 1;  // start and end: the region of interest, for tf_crop_and_resize
  bool identity() const { return input == output && scale == 1.0f; }
};

struct Tap {
  std::int64_t index;
  double weight;
};
// The taps of output element i; empty if it lies outside the input and gets the extrapolation value.
std::vector<Tap> resize_taps(const ir::Attributes& attributes, const ResizeAxis& axis, std::int64_t i);

// Throws a fault unless the modes are those of the standard.
void expect_resize_modes(const ir::Attributes& attributes);

// floor(extent * scale); a scale that is a small fraction is taken as that fraction, so that symbols can be scaled too.
ir::Dim scaled_extent(ir::Dim extent, float scale);

}  // namespace tenfold::ops
