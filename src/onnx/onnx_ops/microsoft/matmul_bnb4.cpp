// MatMulBnb4: a product with weights of 4 bits that number 16 values, times a scale for each block, as bitsandbytes stores them.
//
// Operands: A, B [(N * K + 1) / 2] (rows one after the other, the first number of a byte in its upper bits), scales of blocks of all of B.
#include <array>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

// The published code books: a float of sign, two bits of exponent and one of fraction over its largest value, and quantiles of a normal
// distribution.
constexpr std::array<float, 16> kFp4{0, 5.208333333e-03f, 0.66666667f, 1, 0.33333333f, 0.5f, 0.16666667f, 0.25f,
                                     -0.0f, -5.208333333e-03f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
constexpr std::array<float, 16> kNf4{-1, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
                                     -0.18477343022823334f, -0.09105003625154495f, 0, 0.07958029955625534f, 0.16093020141124725f,
                                     0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f,
                                     0.7229568362236023f, 1};

struct Form {
  std::int64_t k, n, block, blocks;
  bool nf4;
  explicit Form(const Attributes& a) : k(a.integer("K")), n(a.integer("N")), block(a.integer("block_size")) {
    validate(k > 0 && n > 0, "K is ", k, ", N ", n, ", both have to be more than 0");
    supported(k <= 1 << 28 && n <= 1 << 28, "K is ", k, ", N ", n, ": at most 2^28 are supported");
    validate(block >= 16 && block <= 1 << 28 && (block & (block - 1)) == 0, "block_size is ", block,
             ", a power of two from 16 on expected");
    const std::int64_t type = a.integer("quant_type");
    validate(type == 0 || type == 1, "quant_type is ", type, ", 0 (FP4) or 1 (NF4) expected");
    nf4 = type == 1;
    blocks = (k * n + block - 1) / block;
  }
};

// Numbers 0 to 15 in whole blocks [blocks, block].
Value* numbers(OnnxImport& call, const Form& form) {
  const Tensor& bytes = call.constant(1, "the weights (input 1)");
  validate(bytes.dtype() == DType::u8, "the weights (input 1) are ", name(bytes.dtype()), ", u8 expected");
  const std::int64_t expected = (form.k * form.n + 1) / 2;
  check_shape(bytes.size() == expected, "the weights (input 1) have ", bytes.size(), " bytes, ", expected, " expected");
  Tensor all(DType::u4, {form.blocks, form.block});   // the first number of a byte lies in its lower bits
  const auto* from = bytes.data<std::uint8_t>();
  auto* to = reinterpret_cast<std::uint8_t*>(all.mutable_raw());
  for (std::int64_t i = 0; i < expected; ++i) to[i] = static_cast<std::uint8_t>(from[i] << 4 | from[i] >> 4);
  return one(call, "Cast", {call.graph().add_constant(std::move(all))}, {{"to", "i32"}});
}

std::vector<Value*> from_1(OnnxImport& call) {
  const Form form(call.attributes);
  expect_float(call, 2);
  Value* scales = call.given(2);
  if (scales->type.ranked && is_constant(scales->dims())) {
    const std::int64_t count = element_count(constants(scales->dims()));
    check_shape(count == form.blocks, "there are ", count, " scales (input 2), ", form.blocks, " expected: for each block of ", form.block,
                " of ", form.n, " rows of ", form.k);
  }
  const std::array<float, 16>& book = form.nf4 ? kNf4 : kFp4;
  Value* values = filled(call, scales->dtype(), {16}, [&](auto* first) { std::copy(book.begin(), book.end(), first); });
  Value* b = one(call, "Mul", {one(call, "Gather", {values, numbers(call, form)}, {{"axis", 0}}), reshaped(call, scales, {-1, 1})});
  if (form.blocks * form.block != form.k * form.n)   // the last block is not full
    b = one(call, "Slice", {reshaped(call, b, {-1}), call.ints({0}), call.ints({form.k * form.n}), call.ints({0})});
  b = reshaped(call, b, {form.n, form.k});
  const bool turned = call.attributes.integer("transB", 1) != 0;
  return {one(call, "MatMul", {call.given(0), turned ? transposed(call, b, {1, 0}) : b})};
}

}  // namespace

OnnxOp onnx_microsoft_matmul_bnb4() { return {.name = "MatMulBnb4", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
