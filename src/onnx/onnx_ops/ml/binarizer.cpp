// Binarizer: 1 above a threshold, 0 elsewhere.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  const DType type = call.given(0)->dtype();
  const float threshold = call.attributes.number("threshold", 0);
  Value* above = one(call, "Greater", {call.in(0), call.scalar(type, static_cast<double>(threshold))});
  return call.add("Cast", {above}, {{"to", std::string(name(type))}});
}

}  // namespace

OnnxOp onnx_ml_binarizer() { return {.name = "Binarizer", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
