// BiasAdd: a bias of the last dim, and a residual.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x, bias, skip)
  s = Add(x, bias)
  y = Add(s, skip)
  return y)";

}  // namespace

OnnxOp onnx_microsoft_bias_add() { return {.name = "BiasAdd", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
