// Bernoulli: 1 where a uniform number is below the operand.
#include "onnx_ops/ai_onnx/random_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_15(OnnxImport& call) {
  Value* p = call.given(0);
  Value* drawn = random_numbers(call, call.add("Shape", {p}, {})[0], p->dtype(), "uniform", 0, 1);
  return call.add("Cast", {call.add("Less", {drawn, p}, {})[0]}, {{"to", std::string(name(requested_type(call, p->dtype())))}});
}

}  // namespace

OnnxOp onnx_ai_onnx_bernoulli() { return {.name = "Bernoulli", .forms = {{15, from_15}}}; }

}  // namespace tenfold::onnx_ops
