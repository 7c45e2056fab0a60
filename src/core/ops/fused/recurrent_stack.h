// Operands of RecurrentStack, for its definition, the pass that makes it, and tactics.
#pragma once

#include <array>
#include <cstdint>

#include "ir/graph.h"

namespace tenfold::ops {

// Behind X, five operands for each layer: W, R, bias, first h, first c. All but the first two may be missing.
struct RecurrentStackLayer {
  static constexpr int kOperands = 5, kMaxLayers = 8;
  static int of(std::int64_t operand) { return static_cast<int>((operand - 1) / kOperands); }   // the layer; `operand` is above 0
  // Where the layer's operands are in a stack, by their place in an LSTM, GRU or RNN: X, W, R, bias, lengths, first h, first c.
  // -1: nowhere.
  static std::array<int, 7> operands(int layer) {
    const int first = 1 + layer * kOperands;
    return {layer == 0 ? 0 : -1, first, first + 1, first + 2, -1, first + 3, first + 4};
  }
};

// The attributes that a layer has as an operator of its own.
ir::Attributes recurrent_stack_layer(const ir::Attributes& stack);

}  // namespace tenfold::ops
