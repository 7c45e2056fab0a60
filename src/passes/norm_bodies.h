// Softmax and norms over the last dims as bodies that reduce, so that they can join what stands around them.
#pragma once

#include "ir/op_def.h"

namespace tenfold::passes {

// Over the node's inputs, its epilogue included; nothing if the node is no such operator, or along other dims, or of unknown length.
std::optional<ir::Body> norm_body(const ir::Node& n);

}  // namespace tenfold::passes
