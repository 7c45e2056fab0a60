// Adam: a step along the mean of the gradients, V, over the root of the mean of their squares, H.
#include "onnx_ops/training/optimizer_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Optimizer o(call, 2);
  Value *unit = o.number(1), *alpha = o.attribute("alpha", 0.9f), *beta = o.attribute("beta", 0.999f);
  const auto missing = [&](Value* base) { return o.sub(unit, one(call, "Pow", {base, o.updates()})); };   // of a mean that began at 0
  Value* corrected = o.div(o.mul(o.rate(), o.sqrt(missing(beta))), missing(alpha));
  Value* rate = one(call, "Where", {o.first(), o.rate(), corrected});
  Value* kept = o.sub(unit, o.attribute("norm_coefficient_post", 0));
  for (std::size_t i = 0; i < o.tensors(); ++i) {
    Value* gradient = o.regularized_gradient(i);
    Value* v = o.add(o.mul(alpha, o.operand(2, i)), o.mul(o.sub(unit, alpha), gradient));
    Value* h = o.add(o.mul(beta, o.operand(3, i)), o.mul(o.sub(unit, beta), o.mul(gradient, gradient)));
    Value* scale = o.add(o.sqrt(h), o.attribute("epsilon", 1e-6f));
    o.set(0, i, o.mul(kept, o.sub(o.operand(0, i), o.div(o.mul(rate, v), scale))));
    o.set(1, i, v);
    o.set(2, i, h);
  }
  return o.results();
}

}  // namespace

OnnxOp onnx_training_adam() { return {.name = "Adam", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
