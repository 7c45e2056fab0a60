// MatMulNBits: a product with weights of 2, 4 or 8 bits that have a scale for each block of a column, as language models are stored.
//
// Operands: A [.., K], B [N, blocks, bytes], scales [N * blocks], zero points (packed as B is), order of groups, bias.
#include <algorithm>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

struct Form {
  std::int64_t k, n, bits, block, blocks;
  DType type;
  explicit Form(const Attributes& a)
      : k(a.integer("K")), n(a.integer("N")), bits(a.integer("bits", 4)), block(a.integer("block_size")) {
    validate(k > 0 && n > 0, "K is ", k, ", N ", n, ", both have to be more than 0");
    supported(k <= 1 << 28 && n <= 1 << 28, "K is ", k, ", N ", n, ": at most 2^28 are supported");
    validate(block >= 16 && block <= 1 << 28 && (block & (block - 1)) == 0, "block_size is ", block,
             ", a power of two from 16 on expected");
    supported(a.integer("weight_prepacked", 0) == 0, "weights packed for one kind of processor (weight_prepacked) are not supported");
    supported(bits == 2 || bits == 4 || bits == 8, "weights of ", bits, " bits are not supported: 2, 4 or 8 are");
    blocks = (k + block - 1) / block;
    type = bits == 2 ? DType::u2 : bits == 4 ? DType::u4 : DType::u8;
  }
};

// The bytes of a constant as integers of `columns` a row, of which `keep` count; with `centered` signed ones, whose zero point is 0.
Value* unpacked(OnnxImport& call, const Form& form, int i, const char* what, std::int64_t columns, std::int64_t keep,
                bool centered = false) {
  const Tensor& bytes = call.constant(i, what);
  supported(bytes.dtype() == DType::u8, what, " are ", name(bytes.dtype()), ", u8 is supported");
  check_shape(bytes.size() == byte_size(form.type, form.n * columns), what, " have ", bytes.size(), " bytes, ",
       byte_size(form.type, form.n * columns), " expected");
  Tensor all(form.type, {form.n, columns}, std::make_shared<Tensor>(bytes), bytes.raw());
  if (centered) {
    const auto middle = static_cast<std::uint8_t>(form.bits == 4 ? 0x88 : 0x80);
    all = Tensor(form.bits == 4 ? DType::i4 : DType::i8, {form.n, columns});
    auto* to = static_cast<std::uint8_t*>(all.mutable_raw());
    std::transform(bytes.data<std::uint8_t>(), bytes.data<std::uint8_t>() + bytes.size(), to,
                   [middle](std::uint8_t byte) { return static_cast<std::uint8_t>(byte ^ middle); });
  }
  Value* value = call.graph().add_constant(std::move(all));
  if (keep == columns) return value;
  return one(call, "Slice", {value, call.ints({0}), call.ints({keep}), call.ints({1})});
}

// As matrices of products, [K, N], blocks along K.
Value* dequantized(OnnxImport& call, const Form& form, Value* b, Value* scales, Value* zero) {
  return one(call, "DequantizeLinear",
             {transposed(call, b, {1, 0}), transposed(call, scales, {1, 0}), zero ? transposed(call, zero, {1, 0}) : nullptr},
             {{"axis", 0}, {"block_size", form.block}});
}

// Each row of weights has the scale of a block that a table names, not of the one that it lies in.
Value* scaled_by_table(OnnxImport& call, const Form& form, Value* b, Value* scales, Value* zero) {
  const auto in_float = [&](Value* value) { return one(call, "Cast", {value}, {{"to", std::string(name(scales->dtype()))}}); };
  const Tensor& table = call.constant(4, "the order of groups");
  check_shape(table.size() == form.k || table.size() == form.blocks * form.block, "the order of groups has ", table.size(), " entries, ",
              form.k, " expected");
  if (form.blocks * form.block != form.k) b = one(call, "Slice", {b, call.ints({0}), call.ints({form.k}), call.ints({1})});
  Value* group = one(call, "Slice", {call.in(4), call.ints({0}), call.ints({form.k}), call.ints({0})});
  const auto of_row = [&](Value* by_block) { return one(call, "Gather", {by_block, group}, {{"axis", 1}}); };
  return one(call, "Mul", {one(call, "Sub", {in_float(b), of_row(in_float(zero))}), of_row(scales)});
}

// The zero points, or the middle of the range.
Value* zero_points(OnnxImport& call, const Form& form) {
  if (call.in(3)) {
    const std::int64_t in_byte = 8 / form.bits, columns = (form.blocks + in_byte - 1) / in_byte * in_byte;   // rows begin on bytes
    return unpacked(call, form, 3, "zero points", columns, form.blocks);
  }
  Tensor middle(form.type, {form.n, form.blocks});
  for (std::int64_t i = 0; i < middle.size(); ++i) store_int(form.type, middle.mutable_raw(), i, std::int64_t{1} << (form.bits - 1));
  return call.graph().add_constant(std::move(middle));
}

std::vector<Value*> from_1(OnnxImport& call) {
  const Form form(call.attributes);
  const bool by_table = call.in(4) != nullptr, centered = !by_table && !call.in(3) && form.bits >= 4;
  Value* b = unpacked(call, form, 1, "weights", form.blocks * form.block, by_table ? form.blocks * form.block : form.k, centered);
  Value* scales = call.given(2);
  if (ir::is_constant(scales->dims())) {
    const std::int64_t count = element_count(ir::constants(scales->dims()));
    check_shape(count == form.n * form.blocks, "there are ", count, " scales, ", form.n * form.blocks, " expected: for each of ", form.n,
         " columns ", form.blocks, " blocks of ", form.block);
  }
  scales = reshaped(call, scales, {form.n, form.blocks});
  Value* zero = centered ? nullptr : zero_points(call, form);
  b = by_table ? transposed(call, scaled_by_table(call, form, b, scales, zero), {1, 0}) : dequantized(call, form, b, scales, zero);
  return {plus_optional(call, one(call, "MatMul", {call.given(0), b}), 5)};
}

}  // namespace

OnnxOp onnx_microsoft_matmul_nbits() { return {.name = "MatMulNBits", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
