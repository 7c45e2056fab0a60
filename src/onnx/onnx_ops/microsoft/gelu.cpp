// Gelu of ONNX Runtime: by the error function.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x)
  y = Gelu(x)
  return y)";

}  // namespace

OnnxOp onnx_microsoft_gelu() { return {.name = "Gelu", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
