// ExpandDims: one more dim, at a place that a number says.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  return {one(call, "Unsqueeze", {call.given(0), reshaped(call, one(call, "Cast", {call.given(1)}, {{"to", "i64"}}), {1})})};
}

}  // namespace

OnnxOp onnx_microsoft_expand_dims() { return {.name = "ExpandDims", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
