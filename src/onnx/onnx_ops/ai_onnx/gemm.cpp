// Gemm: before opset 7 an attribute told whether C is broadcast; now it always may be.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kBefore7 = R"((a, b, c) alpha=1.0 beta=1.0 broadcast=0 transA=0 transB=0
  y = Gemm(a, b, c) alpha=@alpha beta=@beta transA=@transA transB=@transB
  return y)";

}  // namespace

OnnxOp onnx_ai_onnx_gemm() { return {.name = "Gemm", .forms = {{7}, {1, kBefore7}}}; }

}  // namespace tenfold::onnx_ops
