// QMoE: a mixture of experts whose weights are integers of 2, 4 or 8 bits, with a scale for each column or each block of one.
#include "base/types/element.h"
#include "onnx_ops/microsoft/experts_common.h"
#include "onnx_ops/microsoft/unpacked_common.h"

namespace tenfold::onnx_ops {
namespace {

std::int64_t bits_of(OnnxImport& call, const char* own) {
  const std::int64_t bits = call.attributes.integer(own, call.attributes.integer("expert_weight_bits", 4));
  supported(bits == 2 || bits == 4 || bits == 8, "weights of ", bits, " bits, 2, 4 or 8 are supported");
  return bits;
}

// Operand `at` as floats, by the scales in the next operand and the zero points in operand `zeros`.
Value* weights(OnnxImport& call, int at, int zeros, const char* own_bits) {
  const std::int64_t bits = bits_of(call, own_bits);
  Value *q = unpacked(call, at, bits), *scales = call.given(at + 1);
  check_shape(q->type.ranked && q->rank() == 3, "operand ", at, " has another rank than 3");
  supported(q->dtype() == DType::u8 || bits < 8, "weights are ", name(q->dtype()), ", u8 is supported");
  supported(is_constant(q->dims()) && scales->type.ranked && is_constant(scales->dims()), "weights or scales of unknown shape");
  const std::int64_t inputs = q->dims()[2].constant(), block = call.attributes.integer("block_size", 0);
  const bool blocks = scales->rank() == 3;
  check_shape(blocks || scales->rank() == 2, "scales have rank ", scales->rank(), ", 2 or 3 expected");
  check_shape(!blocks || (block > 0 && inputs % block == 0), "block_size is ", block, " for ", inputs, " inputs");
  const Shape shape = constants(scales->dims());
  Value* zero = nullptr;
  if (call.in(zeros)) {
    zero = unpacked(call, zeros, bits);   // rows are filled to whole bytes
    zero = one(call, "Slice", {zero, call.ints({0}), call.ints({shape.back()}), call.ints({static_cast<std::int64_t>(shape.size()) - 1})});
  } else {
    Tensor middle(q->dtype(), shape);
    for (std::int64_t i = 0; i < middle.size(); ++i) store_int(middle.dtype(), middle.mutable_raw(), i, std::int64_t{1} << (bits - 1));
    zero = call.graph().add_constant(std::move(middle));
  }
  if (!blocks) scales = unsqueezed(call, scales, {2}), zero = unsqueezed(call, zero, {2});
  Value* w = one(call, "DequantizeLinear", {q, scales, zero}, {{"axis", 2}, {"block_size", blocks ? block : inputs}});
  return w->dtype() == call.in(0)->dtype() ? w : one(call, "Cast", {w}, {{"to", std::string(name(call.in(0)->dtype()))}});
}

std::vector<Value*> from_1(OnnxImport& call) {
  expect_float(call, 0);
  const std::string kind = call.attributes.string("quant_type", "int");
  supported(kind == "int", "weights of the quant_type '", kind, "', int is supported");
  supported(call.attributes.integer("weights_prepacked", -1) != 1, "weights packed for one kind of processor (weights_prepacked)");
  for (int i = 15; i < static_cast<int>(call.inputs.size()); ++i)
    supported(!call.in(i), "operand ", i, ": scales of 4- and 8-bit floats are not supported");
  const Layer gate = call.in(8) ? Layer{weights(call, 8, 13, "fc3_expert_weight_bits"), call.in(10)} : Layer{};
  return mixed_experts(call, {weights(call, 2, 11, "fc1_expert_weight_bits"), call.in(4)},
                       {weights(call, 5, 12, "fc2_expert_weight_bits"), call.in(7)}, gate, call.in(14));
}

}  // namespace

OnnxOp onnx_microsoft_qmoe() { return {.name = "QMoE", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
