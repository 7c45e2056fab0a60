// Where the bias of a product stands.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace tenfold::quant {

// An operand of the product, or of the sum behind it: a constant with one element for each output channel. An operand that the product
// does not have yet can be made.
struct BiasPlace {
  ir::Node* node = nullptr;
  int operand = 0;
};
std::optional<BiasPlace> bias_place(ir::Node& product);

}  // namespace tenfold::quant
