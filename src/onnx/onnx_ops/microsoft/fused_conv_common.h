// A convolution of ONNX Runtime's optimizer, with what it fused behind it.
#pragma once

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

// Of `images`, whose channels are first: a convolution with operand 1 as weights and operand 2 as bias, plus `residual` where it is not
// null, and the activation that the attributes name.
Value* fused_convolution(OnnxImport& call, Value* images, Value* residual);

}  // namespace tenfold::onnx_ops
