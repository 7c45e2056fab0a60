// The backward slice of a part: what a node reads of its operands for some positions of one axis of its result, and the
// node that computes just those from just that.
#pragma once

#include <functional>

#include "ir/op_def.h"
#include "passes/positions.h"

namespace tenfold::passes {

// Positions of one axis of a value; all of every other axis.
struct AxisRange {
  std::size_t axis = 0;
  Positions at;
};

struct BackwardSlice {
  std::vector<std::optional<AxisRange>> reads;   // of each operand; nothing: all of it
  // The part of the result, of operands of which each is the part that `reads` says.
  std::function<ir::Value*(ir::Graph& graph, ir::Node& node, std::vector<ir::Value*> operands)> make;
};

// Nothing where a part of the result needs all operands whole, or the extents along the axis are not known.
std::optional<BackwardSlice> backward_slice_of(const ir::Node& node, const AxisRange& part);

// What a Slice of known places along one axis takes of its operand, if its steps are forwards.
std::optional<AxisRange> sliced(const ir::Node& node);
// `v` cut to a part, which may be all of it.
ir::Value* cut_to(ir::Graph& graph, ir::Value* v, const AxisRange& part, ir::Node* before);

}  // namespace tenfold::passes
