// What the reductions share: axes, result shapes, and the walk over what each result is reduced from.
//
// In the graph `axes` is an attribute (none: all dims, or with noop_with_empty_axes=1 no dim) wherever it is known when building;
// axes that are not stay a second operand, and the extents of the result become symbols.
#pragma once

#include <optional>
#include <span>

#include "ir/op_def.h"

namespace tenfold::ir {

// One result from the elements it is reduced from. Integers go through `whole` (u64 by its bits; the result wraps), or, where
// that is null, through `real` with the result truncated.
struct Reduction {
  double (*real)(std::span<const double> elements) = nullptr;
  std::int64_t (*whole)(DType type, std::span<const std::int64_t> elements) = nullptr;
};

// Definition of a reduction operator.
OpDef reduction(std::string name, ReductionKind kind, void (*reference)(Call&), std::vector<std::string> cases);
void reduce(Call& call, const Reduction& reduction);

// The integers that a value is known to hold when building.
std::optional<std::vector<std::int64_t>> known_integers(const Value& value);

}  // namespace tenfold::ir
