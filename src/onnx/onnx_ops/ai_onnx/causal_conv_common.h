// CausalConvWithState as ONNX and ONNX Runtime have it.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

std::vector<Value*> causal_conv(OnnxImport& call);   // along one dim

}  // namespace tenfold::onnx_ops
