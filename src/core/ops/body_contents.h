// Runs a Body on Dims: shape arithmetic stays symbolic through pointwise operators.
#pragma once

#include <optional>
#include <span>

#include "ir/body.h"
#include "ir/dim.h"

namespace tenfold::ops {

// The outputs of an integer body for one element of each input; an output is empty if the result has no exact form as a Dim.
// `box` bounds the symbols. Symbolic sizes are taken to fit i32 and i64; numbers wrap as their types do.
std::vector<std::optional<ir::Dim>> body_contents(const ir::Body& body, std::span<const ir::Dim> in, const ir::SymbolBounds& box);

}  // namespace tenfold::ops
