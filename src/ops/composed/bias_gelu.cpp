// BiasGelu, FastGelu, QuickGelu: activations with or without a bias, as ONNX Runtime's optimiser fuses them.
#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

using ops::one, ops::plus_optional;

std::vector<Value*> exact(OnnxImport& call) { return {one(call, "Gelu", {plus_optional(call, call.need(0), 1)})}; }

std::vector<Value*> fast(OnnxImport& call) {
  return {one(call, "Gelu", {plus_optional(call, call.need(0), 1)}, {{"approximate", "tanh"}})};
}

std::vector<Value*> quick(OnnxImport& call) {
  return {one(call, "Swish", {call.need(0)}, {{"alpha", call.attributes.number("alpha", 1.702f)}})};
}

}  // namespace

OpDef op_bias_gelu() {
  return ops::composed({{"BiasGelu", 1, exact, ops::kMicrosoft},
                        {"Gelu", 1, exact, ops::kMicrosoft},
                        {"FastGelu", 1, fast, ops::kMicrosoft},
                        {"QuickGelu", 1, quick, ops::kMicrosoft}});
}

}  // namespace tenfold::ir
