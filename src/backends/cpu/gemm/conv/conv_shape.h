// A convolution's numbers, padded to three spatial dims by leading ones: what is fixed when it is opened, and what a run brings.
#pragma once

#include <array>
#include <vector>

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

using Three = std::array<std::int64_t, 3>;

struct ConvShape {
  std::int64_t channels = 0, filters = 0, groups = 1;  // of input and output
  std::int64_t depth = 0, width = 0;                   // the same of one group
  Three kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, begin{0, 0, 0};

  ConvShape() = default;
  explicit ConvShape(const Problem& problem);  // problem passed conv_supports
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

struct ConvExtents {
  std::int64_t batch = 1;
  Three in{1, 1, 1}, out{1, 1, 1};
  Three x_stride{0, 0, 0};  // elements from one input position to the next
  std::int64_t x_batch = 0;
  ConvExtents(const Bound& x, const Bound& y) noexcept;
  std::int64_t positions() const { return out[0] * out[1] * out[2]; }
  std::int64_t rows() const { return batch * positions(); }
};

// What all convolutions of floats ask: constant weights, explicit pads, a result of the convolution's own extents ...
Verdict conv_extents_supported(const Problem& problem);
// ... and that operands are f32.
Verdict conv_supports(const Problem& problem);
bool conv_has_bias(const Problem& problem);
bool unit_channels(const OperandDesc& operand);  // the channels of a position are contiguous
// Whether all positions of an operand in channels-last layout lie one stride apart.
bool uniform_positions(const OperandDesc& operand);
// One combination of layouts: x and y as given, operands of the epilogue that have the result's rank like y, all else plain.
Formats conv_formats(const Problem& problem, Layout x, Layout y);
// Output positions for choosing configs, and the work.
std::int64_t conv_likely_rows(const Problem& problem);
double conv_work(const Problem& problem);

}  // namespace tenfold::backends::cpu
