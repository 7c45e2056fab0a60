// Range of ONNX Runtime: its numbers may be tensors of one element, and the step may be left out.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  const auto number = [&](Value* value) {   // known to be a number already: what Range counts is known, too
    return value->type.ranked && value->rank() == 0 ? value : one(call, "Reshape", {value, call.ints({})});
  };
  Value* start = call.given(0);
  return {one(call, "Range", {number(start), number(call.given(1)), call.in(2) ? number(call.in(2)) : call.scalar(start->dtype(), 1)})};
}

}  // namespace

OnnxOp onnx_microsoft_range() { return {.name = "Range", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
