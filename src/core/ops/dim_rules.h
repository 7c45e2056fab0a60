// Dim arithmetic that knows the bounds of a graph's symbols, and reading index operands while types are inferred.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ops {

// min, max and signs, decided where the bounds decide them: min(sequence, 512) is `sequence` if that never passes 512.
class DimRules {
 public:
  DimRules() = default;   // no symbols: decides constants
  explicit DimRules(ir::InferCall& call) : box_(call.graph().box()) {}
  explicit DimRules(ir::SymbolBounds box) : box_(std::move(box)) {}
  ir::Dim smaller(ir::Dim a, ir::Dim b) const;
  ir::Dim larger(ir::Dim a, ir::Dim b) const;
  ir::Dim not_negative(ir::Dim a) const { return larger(a, 0); }
  // An index counted from the end if negative, brought into [low, high].
  ir::Dim clamp_index(ir::Dim index, ir::Dim extent, ir::Dim low, ir::Dim high) const;

 private:
  ir::SymbolBounds box_;
};

// Two dims that have to be the same extent: the better known of them; unequal constants are an error.
ir::Dim same_extent(const ir::InferCall& call, ir::Dim a, ir::Dim b, const char* what);
// Operand i as constant integers; unsupported where unknown, since the rank of the result depends on them.
ir::Ints need_integers(const ir::InferCall& call, int i, const char* what);
// The same as distinct axes of a tensor of that rank.
std::vector<int> need_axes(const ir::InferCall& call, int i, int rank);
bool knows_integers(const ir::InferCall& call, int i);
// The largest of some dims, at least 1: an upper bound where it is unknown which of them an extent will be.
ir::Dim largest(ir::InferCall& call, std::span<const ir::Dim> dims);
// The length of an index operand, which decides the rank of a result.
int need_length(const ir::InferCall& call, int i, const char* what);
// The shape that an operand holds, a symbol for each extent that only the run knows.
ir::Dims need_shape(ir::InferCall& call, int i);
// One element of a scalar operand as a Dim: from contents or from a constant of any type; `known` says whether there was one.
struct MaybeDim { bool known = false; ir::Dim value; };
MaybeDim scalar_contents(const ir::InferCall& call, int i);
// Dims small enough to carry contents, as constants; empty optional otherwise.
std::optional<Shape> constant_shape(const ir::Dims& dims);

}  // namespace tenfold::ops
