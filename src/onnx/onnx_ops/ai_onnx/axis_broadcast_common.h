// Broadcasting as it was before opset 7: an axis says which dims of the first operand the second one stands for.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// The binary operators of opset 6 and before: attributes `broadcast` and `axis`. Later opsets broadcast as numpy does.
std::vector<Value*> from_axis_broadcast(OnnxImport& node);
// `value` with `count` dims of extent 1 behind its own.
Value* append_ones(OnnxImport& node, Value* value, int count);

}  // namespace tenfold::onnx_ops
