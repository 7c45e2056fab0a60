// Types of 16 bits that the model itself computes in. Passes see f32 in their place (passes/widening.h), so that they know one form of
// everything; when precision is settled, layers get their types back.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ir/graph.h"
#include "passes/pass.h"

namespace tenfold::passes {

// Of each of the model's layers that gives floats, by its number in the table of names (ir/names.h), the type of these.
using OwnTypes = std::unordered_map<std::int32_t, DType>;
// Empty: no layer computes in 16 bits. `model`: as it came, names started.
OwnTypes own_types(const ir::Graph& model);

// Writes Numerics::type at nodes whose layers all have one type of 16 bits. A type that the user gave stays.
Pass pass_give_own_types(OwnTypes types);

}  // namespace tenfold::passes
