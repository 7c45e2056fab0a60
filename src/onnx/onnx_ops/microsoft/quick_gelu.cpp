// QuickGelu: x * sigmoid(alpha * x).
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x) alpha=1.702
  y = Swish(x) alpha=@alpha
  return y)";

}  // namespace

OnnxOp onnx_microsoft_quick_gelu() { return {.name = "QuickGelu", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
