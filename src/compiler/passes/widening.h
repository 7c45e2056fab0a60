// Floats of 16 bits computed in f32: on devices that have no kernels for them, and for rules, which know f32.
#pragma once

#include "ir/graph.h"

namespace tenfold::passes {

// Every node that computes on values of these types (f16, bf16) computes in f32 what follows from their f32 forms. A result is rounded
// only for those who read it as the type that it had: for a graph output, a Cast of the model's own, a body. Nodes that only move
// elements move them in the type that they come in.
// Nodes of which `stays` says so stay as they are.
bool widen(ir::Graph& graph, std::initializer_list<DType> types, bool (*stays)(const ir::Node&) = nullptr);

inline bool is_recurrent(const ir::Node& n) { return n.op() == "LSTM" || n.op() == "GRU" || n.op() == "RNN"; }

}  // namespace tenfold::passes
