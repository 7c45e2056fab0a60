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

// Two attributes for the last two of four dims.
std::vector<Value*> from_1(OnnxImport& call) {
  Tensor tensor(DType::f32, {4});
  float* scales = tensor.mutable_data<float>();
  scales[0] = scales[1] = 1, scales[2] = call.attributes.number("height_scale"), scales[3] = call.attributes.number("width_scale");
  return {enlarged(call, call.graph().add_constant(tensor, call.name() + "_scales"))};
}

}  // namespace

OnnxOp onnx_ai_onnx_upsample() { return {.name = "Upsample", .forms = {{9, from_upsample}, {7, from_7}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
