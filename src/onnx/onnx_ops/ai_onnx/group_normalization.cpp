// GroupNormalization: at opset 18 scale and bias have one value for each group.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

// The value of each group for each of its channels.
Value* per_channel(OnnxImport& call, Value* parameter, std::int64_t groups, std::int64_t channels) {
  Value* column = call.add("Reshape", {parameter, call.ints({groups, 1})}, {})[0];
  Value* repeated = call.add("Expand", {column, call.ints({groups, channels / groups})}, {})[0];
  return call.add("Reshape", {repeated, call.ints({channels})}, {})[0];
}

std::vector<Value*> from_18(OnnxImport& call) {
  const std::int64_t groups = call.attributes.integer("num_groups");
  const Value* x = call.given(0);
  supported(x->type.ranked && x->rank() >= 2 && x->dims()[1].is_constant(),
            "GroupNormalization of opset 18 needs a known number of channels");
  const std::int64_t channels = x->dims()[1].constant();
  validate(groups > 0, "num_groups is ", groups);
  check_shape(channels % groups == 0, channels, " channels do not divide into ", groups, " groups");
  Value* scale = per_channel(call, call.given(1), groups, channels);
  Value* bias = per_channel(call, call.given(2), groups, channels);
  return call.add("GroupNormalization", {call.inputs[0], scale, bias}, call.attributes);
}

}  // namespace

OnnxOp onnx_ai_onnx_group_normalization() { return {.name = "GroupNormalization", .forms = {{21}, {18, from_18}}}; }

}  // namespace tenfold::onnx_ops
