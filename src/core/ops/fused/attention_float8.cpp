// AttentionFloat8 (internal): softmax(scale * q * k' + mask) * v * value_scale over [batch, heads, rows, head size], of queries, keys and
// values of e4m3; scores and sums are f32, and kernels round the softmax to e4m3 before they multiply it by v. Operands, result,
// causal=1 and nan_rows=1 as FusedAttention's. Made of a quantized model's products for GPUs.
#include "ops/fused/attention_dims.h"
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { call.out(0, DType::f32, attention_dims(call)); }

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  const Attributes& a = node.attributes;
  std::vector<Value*> operands;
  for (Value* v : node.inputs) operands.push_back(v ? x.cast(v, DType::f32) : nullptr);
  Attributes attributes{{"scale", a.number("scale")}, {"causal", a.integer("causal")}};
  if (a.has("nan_rows")) attributes.set("nan_rows", a.integer("nan_rows"));
  Value* y = x("FusedAttention", operands, attributes);
  return {x("Mul", {y, x.number(DType::f32, static_cast<double>(a.number("value_scale")))})};
}

}  // namespace

OpDef op_attention_float8() {
  return fused(
      {.name = "AttentionFloat8",
       .min_inputs = 3,
       .max_inputs = 4,
       .types = "f8e4m3fn, f8e4m3fn, f8e4m3fn, dense -> f32",
       .attributes = {{"causal", 0}, {"scale", 1.0f}, {"value_scale", 1.0f}},
       .optional_attributes = "nan_rows: int",
       .infer = infer,
       .decompose = decompose,
       .traits = {.anchor = true, .accumulates = true, .strided = true},
       .cases = {"f8e4m3fn[2,3,7,16] f8e4m3fn[2,3,7,16] f8e4m3fn[2,3,7,16] scale=0.25",
                 "f8e4m3fn[1,2,33,32] f8e4m3fn[1,2,33,32] f8e4m3fn[1,2,33,32] f32[1,1,1,33](-9,0) scale=0.17677669 value_scale=0.5",
                 "f8e4m3fn[2,2,5,8] f8e4m3fn[2,2,9,8] f8e4m3fn[2,2,9,11] f16[2,1,5,9](-3,3) scale=0.5",
                 "f8e4m3fn[1,4,70,64] f8e4m3fn[1,2,70,64] f8e4m3fn[1,2,70,64] causal=1 scale=0.125"},
       .tolerance = 0.06},   // a weight is off by a sixteenth of it at most
      Between::as_stored);
}

}  // namespace tenfold::ir
