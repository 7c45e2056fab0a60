// What LpPool and GlobalLpPool of opset 1 share.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// The node as the graph's, with p, which was a float before opset 2, as an integer.
std::vector<Value*> with_whole_p(OnnxImport& call);

}  // namespace tenfold::onnx_ops
