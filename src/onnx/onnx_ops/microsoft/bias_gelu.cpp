// BiasGelu: a bias, and Gelu.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x, bias?)
  s = Add(x, bias) if bias else x
  y = Gelu(s)
  return y)";

}  // namespace

OnnxOp onnx_microsoft_bias_gelu() { return {.name = "BiasGelu", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
