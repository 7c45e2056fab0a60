// TopK: before opset 10 the number of elements is an attribute.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kBefore10 = R"((x) axis=-1 k=int!
  values, indices = TopK(x, @k) axis=@axis
  return values, indices)";

}  // namespace

OnnxOp onnx_ai_onnx_top_k() { return {.name = "TopK", .forms = {{10}, {1, kBefore10}}}; }

}  // namespace tenfold::onnx_ops
