// AddReversed (of the recipe's test): LeakyRelu of a tensor plus its rows in the opposite order.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x) alpha=1.0
  r = ReverseRows(x)
  s = Add(x, r)
  y = LeakyRelu(s) alpha=@alpha
  return y)";

}  // namespace

OnnxOp onnx_microsoft_add_reversed() { return {.name = "AddReversed", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
