// BiasSplitGelu: the first half of the columns times Gelu of the second, behind a bias.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x, bias)
  s = Add(x, bias)
  a, g = Split(s) axis=-1 num_outputs=2
  r = Gelu(g)
  y = Mul(a, r)
  return y)";

}  // namespace

OnnxOp onnx_microsoft_bias_split_gelu() { return {.name = "BiasSplitGelu", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
