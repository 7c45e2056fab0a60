// Finding GELU in a body.
#pragma once

#include "ir/body.h"

namespace tenfold::backends::cuda {

// The value of which instruction `k` is the exact GELU, in a type of two bytes and as exporters spell it; -1 if it is something else.
int gelu_operand(const ir::Body& body, std::size_t k);

}  // namespace tenfold::backends::cuda
