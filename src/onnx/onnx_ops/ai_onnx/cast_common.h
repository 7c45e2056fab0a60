// What Cast and CastLike share.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// Operand 0 as another type, by the node's attributes `saturate` and `round_mode`.
std::vector<Value*> add_cast(OnnxImport& node, DType to);

}  // namespace tenfold::onnx_ops
