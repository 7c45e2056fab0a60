// Softmax and its kin as they were before opset 13.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// The input flattened to a matrix at `axis`, and the operator along its rows.
std::vector<Value*> from_flattened(OnnxImport& call);

}  // namespace tenfold::onnx_ops
