// TransposeMatMul: the first name of FusedMatMul.
#include "onnx_ops/microsoft/fused_matmul_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_microsoft_transpose_matmul() { return {.name = "TransposeMatMul", .forms = {{1, from_fused_matmul}}}; }

}  // namespace tenfold::onnx_ops
