// SkipLayerNormalization and its kin: a residual is added, then rows are normalised. Results 1 and 2, statistics for training, are not
// computed; result 3 is the sum.
#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

using ops::one, ops::plus_optional;

std::vector<Value*> layer_norm(OnnxImport& call) {
  Value* sum = plus_optional(call, one(call, "Add", {call.need(0), call.need(1)}), 4);
  const float epsilon = call.attributes.number("epsilon", 1e-12f);
  return {one(call, "LayerNormalization", {sum, call.need(2), call.in(3)}, {{"epsilon", epsilon}}), nullptr, nullptr, sum};
}

std::vector<Value*> rms_norm(OnnxImport& call) {
  Value* sum = plus_optional(call, one(call, "Add", {call.need(0), call.need(1)}), 3);
  const float epsilon = call.attributes.number("epsilon", 1e-12f);
  return {one(call, "RMSNormalization", {sum, call.need(2)}, {{"epsilon", epsilon}}), nullptr, nullptr, sum};
}

// ONNX Runtime's name for it before opset 23, in ONNX's own domain.
std::vector<Value*> simplified(OnnxImport& call) {
  return {one(call, "RMSNormalization", {call.need(0), call.need(1)},
              {{"axis", call.attributes.integer("axis", -1)}, {"epsilon", call.attributes.number("epsilon", 1e-5f)}})};
}

}  // namespace

OpDef op_skip_layer_normalization() {
  return ops::composed({{"SkipLayerNormalization", 1, layer_norm, ops::kMicrosoft},
                        {"SkipSimplifiedLayerNormalization", 1, rms_norm, ops::kMicrosoft},
                        {"SimplifiedLayerNormalization", 1, simplified}});
}

}  // namespace tenfold::ir
