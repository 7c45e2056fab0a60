// SkipLayerNorm (internal): a sum of rows of tables and of plain tensors, then LayerNormalization over the last dim. Operands: scale,
// bias, then for each term a table and the indices of its rows, or a tensor that broadcasts and no indices. Results: the norm, then, if
// asked for, the same quantized to 8 bits with one scale and zero point. Made by fusion passes for GPUs.
#include "ops/dim_rules.h"
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  Dims result;
  for (int i = 2; i < call.inputs(); i += 2) {
    Dims term = call.dims(i);
    if (call.has(i + 1)) {
      call.check_shape(term.size() == 2, "a table has rank ", term.size(), ", 2 expected");
      term = call.dims(i + 1);
      term.push_back(call.dims(i)[1]);
    }
    result = broadcast(result, term);
  }
  call.check_shape(!result.empty(), "there is nothing to add");
  for (int i = 0; i < 2; ++i)
    call.check_shape(call.rank(i) == 1 && call.dims(i)[0] == result.back(), "scale and bias need the extent of the last dim, ",
              result.back().text());
  call.out(0, call.dtype(2), result);
  if (call.outputs() < 2) return;
  const auto type = dtype_from_name(call.attributes().string("quantized"));
  call.validate(type == DType::u8 || type == DType::i8 || type == DType::f8e4m3fn, "the second result is quantized to \"",
             call.attributes().string("quantized"), "\", expected u8, i8 or f8e4m3fn");
  call.out(1, *type, result);
}

// Nothing is rounded before the norm is stored, and what is quantized is the norm as it is stored.
std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  Value* sum = nullptr;
  for (int i = 2; i < static_cast<int>(node.inputs.size()); i += 2) {
    Value* term = x.cast(node.in(i), DType::f64);
    if (node.in(i + 1)) term = x("Gather", {term, node.in(i + 1)});
    sum = sum ? x("Add", {sum, term}) : term;
  }
  const Attributes& a = node.attributes;
  Value* norm = x("LayerNormalization", {sum, node.in(0), node.in(1)}, {{"epsilon", a.number("epsilon")}});
  Value* y = x.cast(norm, node.in(2)->dtype());
  if (node.outputs.size() < 2) return {y};
  const DType small = *dtype_from_name(a.string("quantized"));
  return {y, x("QuantizeLinear", {x.cast(y, DType::f32), x.number(DType::f32, a.number("scale")), x.number(small, a.number("zero"))})};
}

}  // namespace

OpDef op_skip_layer_norm() {
  return fused(
      {.name = "SkipLayerNorm",
       .min_inputs = 3,
       .max_inputs = 10,
       .max_outputs = 2,
       .types = "float, float, T, int, float, int, float, int, float, int -> T, *; T: float",
       .attributes = {{"epsilon", 1e-5f}, {"quantized", ""}, {"scale", 1.0f}, {"zero", 0.0f}},
       .infer = infer,
       .decompose = decompose,
       .traits = {.narrows = true},
       .cases = {"f32[8] f32[8] f32[10,8] i64[2,3](0,9)", "f16[64] f16[64] f16[9,64]! i64[2,5](0,8) f16[1,5,64]! _",
                 "f32[384]! f32[384]! f32[9,384]! i64[2,5](-9,8) f32[5,384]! _ f32[2,384]! i32[2,5](0,1)",
                 "f16[100] f16[100] f16[9,100] i64[1,5](0,8) f16[3,5,100] _", "f16[384] f16[384] f16[6,384] _ f16[6,384] _ f16[384]!",
                 "f16[100] f16[100] f16[9,100] _ f16[9,100] outputs=2 quantized=\"f8e4m3fn\" scale=0.01",
                 "f32[384] f32[384] f32[6,384] _ f32[6,384] outputs=2 quantized=\"u8\" scale=0.02 zero=128.0"}},
      Between::as_stored);
}

}  // namespace tenfold::ir
