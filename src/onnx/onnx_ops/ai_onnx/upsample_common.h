// The rule of Upsample and of the first Resize.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// No half pixels, nearest rounds down.
Value* enlarged(OnnxImport& call, Value* scales);
std::vector<Value*> from_upsample(OnnxImport& call);   // with operand 1 as scales

}  // namespace tenfold::onnx_ops
