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

void inline_scalars(ir::Body& body, std::vector<ir::Value*>& operands, int first_operand);

}  // namespace tenfold::passes
