// GridSample of ONNX Runtime, which older exporters of torch write: images alone, and modes named after two dims.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Attributes attributes = call.attributes;
  const std::string mode = attributes.string("mode", "bilinear");
  attributes.set("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  return call.add("GridSample", call.inputs, attributes);
}

}  // namespace

OnnxOp onnx_microsoft_grid_sample() { return {.name = "GridSample", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
