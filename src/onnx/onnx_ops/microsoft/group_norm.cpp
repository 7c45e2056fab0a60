// GroupNorm: GroupNormalization of images whose channels are last, with SiLU where the attribute `activation` is 1.
#include "onnx_ops/microsoft/channels_last_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  expect_float(call, 0);
  const bool last = call.attributes.integer("channels_last", 1) != 0;
  const std::int64_t activation = call.attributes.integer("activation", 0);
  validate(activation == 0 || activation == 1, "activation is ", activation, ", 0 or 1 (SiLU) expected");
  validate(call.attributes.has("groups"), "attribute 'groups' is missing");
  const std::string type(name(call.in(0)->dtype()));
  Value* x = last ? with_channels_first(call, call.in(0)) : call.in(0);
  Value *gamma = one(call, "Cast", {call.given(1)}, {{"to", type}}), *beta = one(call, "Cast", {call.given(2)}, {{"to", type}});
  Value* y = one(call, "GroupNormalization", {x, gamma, beta}, {{"num_groups", call.attributes.integer("groups")},
                                                                {"epsilon", call.attributes.number("epsilon", 1e-5f)}});
  if (activation == 1) y = one(call, "Swish", {y}, {{"alpha", 1.0f}});
  return {last ? with_channels_last(call, y) : y};
}

}  // namespace

OnnxOp onnx_microsoft_group_norm() { return {.name = "GroupNorm", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
