// Recurrent nodes whose form fused operators have.
#pragma once

#include <string>

#include "ir/graph.h"

namespace tenfold::passes {

// LSTM, GRU or RNN, steps first, without lengths, peepholes, clipping or other activations than usual; an RNN's may be Relu.
bool is_plain_recurrent(const ir::Node& node);
// The one activation of a plain RNN, "Tanh" or "Relu"; of LSTM and GRU "Tanh", which says nothing. Empty: it has others.
std::string activation_of_recurrent(const ir::Node& node);

}  // namespace tenfold::passes
