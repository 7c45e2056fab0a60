// Adagrad: a step whose rate falls by the root of the sum of squared gradients, H.
#include "onnx_ops/training/optimizer_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Optimizer o(call, 1);
  Value* rate = o.div(o.rate(), o.add(o.number(1), o.mul(o.updates(), o.attribute("decay_factor", 0))));
  for (std::size_t i = 0; i < o.tensors(); ++i) {
    Value* gradient = o.regularized_gradient(i);
    Value* h = o.add(o.operand(2, i), o.mul(gradient, gradient));
    Value* scale = o.add(o.sqrt(h), o.attribute("epsilon", 1e-6f));
    o.set(0, i, o.sub(o.operand(0, i), o.div(o.mul(rate, gradient), scale)));
    o.set(1, i, h);
  }
  return o.results();
}

}  // namespace

OnnxOp onnx_training_adagrad() { return {.name = "Adagrad", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
