// Momentum: a step along the running sum of the gradients, V; Nesterov's looks one step ahead.
#include "onnx_ops/training/optimizer_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Optimizer o(call, 1);
  for (const char* needed : {"alpha", "beta", "mode", "norm_coefficient"})
    validate(call.attributes.has(needed), "attribute '", needed, "' is missing");
  const std::string mode = call.attributes.string("mode");
  validate(mode == "standard" || mode == "nesterov", "mode is '", mode, "', standard or nesterov expected");
  Value* alpha = o.attribute("alpha", 0);
  Value* beta = one(call, "Where", {o.first(), o.number(1), o.attribute("beta", 0)});
  for (std::size_t i = 0; i < o.tensors(); ++i) {
    Value* gradient = o.regularized_gradient(i);
    Value* v = o.add(o.mul(alpha, o.operand(2, i)), o.mul(beta, gradient));
    Value* direction = mode == "standard" ? v : o.add(gradient, o.mul(alpha, v));
    o.set(0, i, o.sub(o.operand(0, i), o.mul(o.rate(), direction)));
    o.set(1, i, v);
  }
  return o.results();
}

}  // namespace

OnnxOp onnx_training_momentum() { return {.name = "Momentum", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
