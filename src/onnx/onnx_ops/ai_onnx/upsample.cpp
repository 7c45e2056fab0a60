// Upsample: a Resize without half pixels.
#include <algorithm>

#include "onnx_ops/ai_onnx/upsample_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_7(OnnxImport& call) {
  const Floats& scales = call.attributes.floats("scales");
  Tensor tensor(DType::f32, {static_cast<std::int64_t>(scales.size())});
  std::copy(scales.begin(), scales.end(), tensor.mutable_data<float>());
  return {enlarged(call, call.graph().add_constant(tensor, call.name() + "_scales"))};
}

}  // namespace

OnnxOp onnx_ai_onnx_upsample() { return {.name = "Upsample", .forms = {{9, from_upsample}, {7, from_7}}}; }

}  // namespace tenfold::onnx_ops
