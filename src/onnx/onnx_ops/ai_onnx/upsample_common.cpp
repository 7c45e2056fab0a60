// The rule of Upsample and of the first Resize, as today's Resize.
#include "onnx_ops/ai_onnx/upsample_common.h"

namespace tenfold::onnx_ops {

Value* enlarged(OnnxImport& call, Value* scales) {
  const std::string mode = call.attributes.string("mode", "nearest");
  return call.add(
      "Resize", {call.given(0), nullptr, scales},
      {{"mode", mode == "bilinear" ? "linear" : mode}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}})[0];
}

std::vector<Value*> from_upsample(OnnxImport& call) { return {enlarged(call, call.given(1))}; }

}  // namespace tenfold::onnx_ops
