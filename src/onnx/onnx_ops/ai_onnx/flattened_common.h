// Softmax and its kin as they were before opset 13.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// `x` flattened to a matrix at `axis`, and an operator along its rows.
Value* along_rows(OnnxImport& call, const std::string& op, Value* x, std::int64_t axis);
// The node's own operator so.
std::vector<Value*> from_flattened(OnnxImport& call);

}  // namespace tenfold::onnx_ops
