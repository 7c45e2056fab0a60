// What FusedMatMul and TransposeMatMul, two names of one operator, share.
#pragma once

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

// A product of operands that may be transposed, times a number.
std::vector<Value*> from_fused_matmul(OnnxImport& call);

}  // namespace tenfold::onnx_ops
