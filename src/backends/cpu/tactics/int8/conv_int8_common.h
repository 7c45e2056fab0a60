// What the int8 convolutions share: the window on concrete extents, padded to three spatial dims, and which problems they take.
#pragma once

#include <array>

#include "backends/cpu/tactics/int8/int8_common.h"

namespace tenfold::backends::cpu {

using Three = std::array<std::int64_t, 3>;

// Fixed when the kernel is opened.
struct ConvInt8Shape {
  std::int64_t channels = 0, filters = 0, groups = 1, depth = 0;   // depth: input channels of a group
  Three kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, begin{0, 0, 0};
  bool padded = false;                                             // before or behind
  explicit ConvInt8Shape(const Problem& problem);                  // problem passed conv_int8_supports
  ConvInt8Shape() = default;
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  bool pointwise() const { return taps() == 1 && stride == Three{1, 1, 1} && !padded; }
};

// Known when it runs.
struct ConvInt8Extents {
  std::int64_t batch = 1;
  Three in{1, 1, 1}, out{1, 1, 1};
  ConvInt8Extents(const Bound& x, const Bound& y) {
    batch = x.dims[0];
    for (int i = 2; i < x.rank; ++i) {
      in[static_cast<std::size_t>(i + 3 - x.rank)] = x.dims[i];
      out[static_cast<std::size_t>(i + 3 - x.rank)] = y.dims[i];
    }
  }
  std::int64_t out_size() const { return out[0] * out[1] * out[2]; }
};

Verdict conv_int8_supports(const Problem& problem);
// Everything channels-last, except small operands.
std::vector<Formats> conv_int8_formats(const Problem& problem);
std::int64_t conv_int8_likely_rows(const Problem& problem);        // output positions, at most a few thousand
double conv_int8_work(const Problem& problem);
bool int8_operand_given(const Problem& problem, std::size_t i);
// Weights [filters][depth][taps] as int16, less nothing; and one zero point per filter.
std::vector<std::int32_t> conv_int8_zeros(const Problem& problem, std::span<const Tensor* const> constants);

}  // namespace tenfold::backends::cpu
