// Softmax and norms over the last dims as bodies that reduce, so that they can join what stands around them.
#pragma once

#include "ir/op_def.h"

namespace tenfold::passes {

// Over the node's inputs, its epilogue included; nothing if the node is no such operator, or along other dims, or of unknown length.
std::optional<ir::Body> norm_body(const ir::Node& n);
// Of an operand with rows of `length` elements in its last two dims, scale and bias, as lower_group_norm lays them out.
std::optional<ir::Body> group_norm_nhwc_body(const ir::Node& n, std::int64_t length);

}  // namespace tenfold::passes
