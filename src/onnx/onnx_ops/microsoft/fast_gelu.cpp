// FastGelu: a bias, and Gelu by tanh.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x, bias?)
  s = Add(x, bias) if bias else x
  y = Gelu(s) approximate="tanh"
  return y)";

}  // namespace

OnnxOp onnx_microsoft_fast_gelu() { return {.name = "FastGelu", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
