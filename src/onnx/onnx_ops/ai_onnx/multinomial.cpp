// Multinomial: numbers of classes drawn by their logarithms of probability: the largest of these plus noise of a Gumbel distribution.
#include "onnx_ops/ai_onnx/random_common.h"
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_7(OnnxImport& call) {
  expect_float(call, 0);
  check_shape(known_rank(call, 0) == 2, "the probabilities have rank ", known_rank(call, 0), ", 2 expected");
  const std::int64_t samples = call.attributes.integer("sample_size", 1);
  validate(samples > 0 && samples <= 1 << 24, "sample_size is ", samples, ", 1 to 2^24 expected");
  const DType type = requested_type(call, DType::i32), of = call.in(0)->dtype() == DType::f64 ? DType::f64 : DType::f32;
  supported(type == DType::i32 || type == DType::i64, "numbers of classes as ", name(type), ", i32 and i64 are supported");
  Value* x = one(call, "Cast", {call.in(0)}, {{"to", std::string(name(of))}});
  Value* shape = one(call, "Concat", {extent(call, x, 0), call.ints({samples}), extent(call, x, 1)}, {{"axis", 0}});
  const auto minus_log = [&](Value* v) { return one(call, "Neg", {one(call, "Log", {v})}); };
  // Never 0, whose logarithm has none.
  Value* noise = minus_log(minus_log(random_numbers(call, shape, of, "uniform", 1e-30f, 1.0f)));
  Value* drawn = one(call, "ArgMax", {one(call, "Add", {unsqueezed(call, x, {1}), noise})}, {{"axis", 2}, {"keepdims", 0}});
  return call.add("Cast", {drawn}, {{"to", std::string(name(type))}});
}

}  // namespace

OnnxOp onnx_ai_onnx_multinomial() { return {.name = "Multinomial", .forms = {{7, from_7}}}; }

}  // namespace tenfold::onnx_ops
