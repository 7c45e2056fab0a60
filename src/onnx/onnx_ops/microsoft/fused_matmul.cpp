// FusedMatMul: a product of operands that may be transposed, times a number.
#include "onnx_ops/microsoft/fused_matmul_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_microsoft_fused_matmul() { return {.name = "FusedMatMul", .forms = {{1, from_fused_matmul}}}; }

}  // namespace tenfold::onnx_ops
