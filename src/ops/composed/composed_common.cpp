// What operators that are written as others share.
#include "ops/composed/composed_common.h"

namespace tenfold::ops {
namespace {

// Plans name operators too: one that names this is refused.
void infer(ir::InferCall& call) {
  fail(ErrorKind::unsupported, cat("'", call.node().op(), "' is no operator of a graph"));
}

}  // namespace

ir::OpDef composed(std::vector<ir::OnnxForm> forms) {
  const std::string name = cat(forms.front().domain.empty() ? "ai.onnx" : forms.front().domain, ".", forms.front().op);
  return {
      .name = name, .min_inputs = 0, .max_inputs = -1, .min_outputs = 0, .max_outputs = -1, .infer = infer, .from_onnx = std::move(forms)};
}

ir::Value* one(ir::OnnxImport& call, std::string_view op, std::vector<ir::Value*> operands, ir::Attributes attributes) {
  return call.add(op, std::move(operands), std::move(attributes))[0];
}

ir::Value* plus_optional(ir::OnnxImport& call, ir::Value* value, int i) {
  return call.in(i) ? one(call, "Add", {value, call.in(i)}) : value;
}

ir::Value* extent(ir::OnnxImport& call, ir::Value* value, std::int64_t d) {
  return one(call, "Shape", {value}, {{"start", d}, {"end", d + 1}});
}

ir::Value* reshaped(ir::OnnxImport& call, ir::Value* value, const std::vector<std::int64_t>& shape) {
  return one(call, "Reshape", {value, call.ints(shape)});
}

ir::Value* transposed(ir::OnnxImport& call, ir::Value* value, std::vector<std::int64_t> perm) {
  return one(call, "Transpose", {value}, {{"perm", std::move(perm)}});
}

ir::Value* unsqueezed(ir::OnnxImport& call, ir::Value* value, const std::vector<std::int64_t>& axes) {
  return one(call, "Unsqueeze", {value, call.ints(axes)});
}

ir::Value* counted(ir::OnnxImport& call, ir::Value* end) {
  return one(call, "Range", {call.scalar(DType::i64, 0), one(call, "Squeeze", {end}), call.scalar(DType::i64, 1)});
}

ir::Value* dequantized(ir::OnnxImport& call, ir::Value* value, ir::Value* scale, ir::Value* zero) {
  return one(call, "DequantizeLinear", {value, scale, zero});
}

ir::Value* integer_product(ir::OnnxImport& call, const Quantized& a, const Quantized& b, int bias) {
  ir::Value* sums = one(call, "MatMulInteger", {a.values, b.values, a.zero, b.zero});
  sums = one(call, "Cast", {sums}, {{"to", std::string(name(b.scale->dtype()))}});
  return plus_optional(call, one(call, "Mul", {sums, one(call, "Mul", {a.scale, b.scale})}), bias);
}

int known_rank(ir::OnnxImport& call, int i) {
  require(call.need(i)->type.ranked, ErrorKind::unsupported, "the rank of operand ", i, " is not known");
  return call.in(i)->rank();
}

void need_float(ir::OnnxImport& call, int i) {
  const DType type = call.need(i)->dtype();
  require(type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16, ErrorKind::invalid_model, "operand ", i,
          " holds ", name(type), ", floats of 16 bits or more expected");
}

}  // namespace tenfold::ops
