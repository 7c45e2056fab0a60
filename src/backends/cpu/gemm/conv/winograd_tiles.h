// How Winograd's forms cut a result into tiles, and what they make of a filter.
#pragma once

#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/kernels/conv/winograd_f32.h"

namespace tenfold::backends::cpu {

struct WinogradTiles {
  Three tile{1, 1, 1};   // results
  Three patch{1, 1, 1};  // the input positions they need: two more in each dim that the kernel is 3 wide in
  WinogradTiles() = default;
  explicit WinogradTiles(WinogradForm form);

  std::int64_t results() const { return tile[0] * tile[1] * tile[2]; }
  std::int64_t matrices() const { return patch[0] * patch[1] * patch[2]; }
  Three grid(const Three& out) const;
  ConvShape patches(const ConvShape& shape) const;  // a convolution whose windows are the patches
  // matrices() values of a filter of 3x3 or 3x3x3.
  void transform(const float* filter, double* values) const;
};

}  // namespace tenfold::backends::cpu
