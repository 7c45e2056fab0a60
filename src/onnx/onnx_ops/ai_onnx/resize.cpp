// Resize: before opset 11 as Upsample.
#include "onnx_ops/ai_onnx/upsample_common.h"

namespace tenfold::onnx_ops {
namespace {

// Empty roi, scales and sizes mean "left out".
std::vector<Value*> from_11(OnnxImport& call) {
  std::vector<Value*> operands = call.inputs;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (operands[i] && operands[i]->type.ranked && product(operands[i]->dims()) == Dim(0)) operands[i] = nullptr;
  }
  if (call.attributes.string("coordinate_transformation_mode", "") != "tf_crop_and_resize" && operands.size() > 1) operands[1] = nullptr;
  while (!operands.empty() && operands.back() == nullptr) operands.pop_back();
  return call.add("Resize", operands, call.attributes);
}

}  // namespace

OnnxOp onnx_ai_onnx_resize() { return {.name = "Resize", .forms = {{11, from_11}, {10, from_upsample}}}; }

}  // namespace tenfold::onnx_ops
