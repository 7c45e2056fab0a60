// ExpandDims: one more dim, at a place that a number says.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Value* axis = call.given(1);
  validate(axis->dtype() == DType::i32 || axis->dtype() == DType::i64, "the axis (input 1) is ", name(axis->dtype()), ", i32 expected");
  return {one(call, "Unsqueeze", {call.given(0), reshaped(call, one(call, "Cast", {axis}, {{"to", "i64"}}), {1})})};
}

}  // namespace

OnnxOp onnx_microsoft_expand_dims() { return {.name = "ExpandDims", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
