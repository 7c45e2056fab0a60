// Half precision where it is allowed: f32 values between nodes become f16 or bf16.
#pragma once

#include <set>
#include <string>

#include "passes/pass.h"

namespace tenfold::passes {

// Inputs, outputs, and nodes that cannot or must not be narrowed keep f32, with casts between. `to` is f16 or bf16. Nodes that make or read
// values of the names in `wide`, and nodes of which `stays` says so, stay as they are. Nodes whose layer was given a type (Numerics::type)
// are narrowed to that one alone. The last steps before outputs write f32 that is not rounded: products and convolutions narrow their
// operands, other nodes stay f32 unless their layer was given a type.
using Stays = bool (*)(const ir::Node&);
Pass pass_narrow_floats(DType to, std::set<std::string> wide = {}, Stays stays = nullptr);

// Whether the node's layer was given a type (Numerics::type).
bool has_type(const ir::Node& n);
bool has_no_type(const ir::Node& n);
// What the CPU's kernels compute in f32 alone: convolutions of groups of channels (neither one group nor a group for each channel), and
// GroupNorms.
bool is_f32_on_hosts(const ir::Node& n);

}  // namespace tenfold::passes
