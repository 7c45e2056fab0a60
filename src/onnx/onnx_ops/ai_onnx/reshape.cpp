// Reshape: before opset 5 the shape is an attribute.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kBefore5 = R"((x) consumed_inputs=ints? shape=ints!
  y = Reshape(x, @shape)
  return y)";

}  // namespace

OnnxOp onnx_ai_onnx_reshape() { return {.name = "Reshape", .forms = {{5}, {1, kBefore5}}}; }

}  // namespace tenfold::onnx_ops
