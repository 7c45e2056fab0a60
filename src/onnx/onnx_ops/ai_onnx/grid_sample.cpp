// GridSample: before opset 20 the modes were named after two dims.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_16(OnnxImport& call) {
  Attributes attributes = call.attributes;
  const std::string mode = attributes.string("mode", "bilinear");
  attributes.set("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  return call.add("GridSample", call.inputs, attributes);
}

}  // namespace

OnnxOp onnx_ai_onnx_grid_sample() { return {.name = "GridSample", .forms = {{20}, {16, from_16}}}; }

}  // namespace tenfold::onnx_ops
