// Slice: before opset 10 starts, ends and axes are attributes.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kBefore10 = R"((x) axes=ints? ends=ints! starts=ints!
  y = Slice(x, @starts, @ends, @axes)
  return y)";

}  // namespace

OnnxOp onnx_ai_onnx_slice() { return {.name = "Slice", .forms = {{10}, {1, kBefore10}}}; }

}  // namespace tenfold::onnx_ops
