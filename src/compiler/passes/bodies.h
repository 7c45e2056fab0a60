// Pointwise nodes as Bodies: what the fusing rules share.
#pragma once

#include "ir/op_def.h"

namespace tenfold::passes {

// The node's computation as a body over its inputs, if it is pointwise (or a Region without reductions) with one result.
std::optional<ir::Body> body_of(const ir::Node& node);
// `first` followed by `next`, where `next` reads first's result; duplicate operands are merged. `operands` are those of `first`
// after position 0 of an epilogue, or all of a region; new operands of `next` are appended to it.
ir::Body append(const ir::Body& first, std::vector<ir::Value*>& operands, int first_operand, const ir::Body& next,
                const std::vector<ir::Value*>& next_operands, const ir::Value* link);

// `body` whose input number `input` is computed by `producer`, a body of one input and one result, from that body's input.
ir::Body feed(const ir::Body& body, int input, const ir::Body& producer);

// Does nothing but `reader` read `v`?
bool read_by_alone(const ir::Graph& graph, const ir::Value* v, const ir::Node& reader);
// One Region in the place of `n` and of the node before it, which makes `v` for it alone; `first` and `own` are their bodies.
ir::Node* join_as_region(ir::Graph& graph, ir::Node& n, ir::Value* v, const ir::Body& first, const ir::Body& own);
inline constexpr std::size_t kMaxRegionOperands = 12;   // one that reads more streams than this runs out of registers and prefetchers
// A longer body gains nothing: its operands and results are few beside its arithmetic. It keeps fusing linear in a chain's length.
inline constexpr std::size_t kMaxCode = 256;

void inline_scalars(ir::Body& body, std::vector<ir::Value*>& operands, int first_operand);

}  // namespace tenfold::passes
