// GridSample: before opset 20 the modes were named after two dims.
#include "onnx_ops/ai_onnx/grid_sample_common.h"

namespace tenfold::onnx_ops {

std::vector<Value*> grid_sample_of_images(OnnxImport& call) {
  Attributes attributes = call.attributes;
  const std::string mode = attributes.string("mode", "bilinear");
  attributes.set("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  return call.add("GridSample", call.inputs, attributes);
}

OnnxOp onnx_ai_onnx_grid_sample() { return {.name = "GridSample", .forms = {{20}, {16, grid_sample_of_images}}}; }

}  // namespace tenfold::onnx_ops
