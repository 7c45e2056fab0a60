// Pad of ONNX Runtime: as ONNX has it from opset 11 on, with pads of shape [1, 2 * rank], too.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  std::vector<Value*> operands{call.given(0), reshaped(call, call.given(1), {-1})};
  if (call.in(2)) operands.push_back(call.in(2));
  return call.add("Pad", operands, {{"mode", call.attributes.string("mode", "constant")}});
}

}  // namespace

OnnxOp onnx_microsoft_pad() { return {.name = "Pad", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
