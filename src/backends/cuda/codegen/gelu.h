// Finding GELU in a body.
#pragma once

#include <optional>

#include "ir/body.h"

namespace tenfold::backends::cuda {

// The value of which instruction `k` is the exact GELU, in a type of two bytes and as exporters spell it; -1 if it is something else.
int gelu_operand(const ir::Body& body, std::size_t k);
// A body whose result is the GELU, in f16, of what the body `before` gives: as it is, or times `factor` in e4m3 or, with a zero point
// between its limits, in integers of 8 bits.
struct GeluEpilogue {
  ir::Body before;
  double factor = 1;
  int zero = 0, lower = 0, upper = 0;   // limits before the zero point is added
};
std::optional<GeluEpilogue> gelu_epilogue(const ir::Body& body);

}  // namespace tenfold::backends::cuda
