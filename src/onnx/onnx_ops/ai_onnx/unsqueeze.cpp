// Unsqueeze: before opset 13 the axes are an attribute.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kBefore13 = R"((x) axes=ints!
  y = Unsqueeze(x, @axes)
  return y)";

}  // namespace

OnnxOp onnx_ai_onnx_unsqueeze() { return {.name = "Unsqueeze", .forms = {{13}, {1, kBefore13}}}; }

}  // namespace tenfold::onnx_ops
