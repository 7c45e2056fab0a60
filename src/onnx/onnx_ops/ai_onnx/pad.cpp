// Pad: before opset 11 pads and value are attributes.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> padded(OnnxImport& import, const char* pads) {
  Value* data = import.given(0);
  const Attributes& old = import.attributes;
  return import.add("Pad", {data, import.ints(old.ints(pads)), import.scalar(data->dtype(), old.number("value", 0))},
                    {{"mode", old.string("mode", "constant")}});
}

std::vector<Value*> from_2(OnnxImport& import) { return padded(import, "pads"); }
std::vector<Value*> from_1(OnnxImport& import) { return padded(import, "paddings"); }

}  // namespace

OnnxOp onnx_ai_onnx_pad() { return {.name = "Pad", .forms = {{11}, {2, from_2}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
