// Half precision where it is allowed: f32 values between nodes become f16 or bf16.
#pragma once

#include "passes/pass.h"

namespace tenfold::quant {

// Inputs, outputs, and nodes that cannot or must not be narrowed keep f32, with casts between. `to` is f16 or bf16.
passes::Pass pass_narrow_floats(DType to);
// The same, in bodies too; nodes that make or read values of these names, or that `stays` says so of, stay as they are. For a pass to
// finish: it sweeps and sorts.
using Stays = bool (*)(const ir::Node&);
void narrow_floats(ir::Graph& graph, DType to, const std::set<std::string>& wide, Stays stays = nullptr);

}  // namespace tenfold::quant
