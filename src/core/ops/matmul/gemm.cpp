// Gemm: alpha * A' * B' + beta * C, where A' and B' may be transposed and C is broadcast to the result.
#include <cmath>
#include <type_traits>

#include "ops/matmul/matmul_common.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) == 2 && call.rank(1) == 2, "A has rank ", call.rank(0), " and B rank ", call.rank(1),
                   ", expected matrices");
  Dims a = call.dims(0), b = call.dims(1);
  if (call.attributes().integer("transA")) std::swap(a[0], a[1]);
  if (call.attributes().integer("transB")) std::swap(b[0], b[1]);
  const Dims dims = ops::matmul_dims(call, a, b);
  if (call.has(2)) {
    const Dims all = broadcast(call.dims(2), dims);
    call.check_shape(call.rank(2) <= 2 && (!is_constant(all) || !is_constant(dims) || all == dims), "C [", text(call.dims(2)),
              "] does not broadcast to [", text(dims), "]");
  }
  for (const char* factor : {"alpha", "beta"}) {
    const double value = call.attributes().number(factor);
    call.supported(is_float(call.dtype(0)) || (std::trunc(value) == value && std::fabs(value) < 0x1p63), factor, " is ", value,
                   ", integers are multiplied by integers alone");
  }
  call.out(0, call.dtype(0), dims);
}

template <class T>
void run(Call& call) {
  const Attributes& attributes = call.attributes();
  const bool trans_a = attributes.integer("transA") != 0, trans_b = attributes.integer("transB") != 0;
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;   // integers wrap
  const auto factor = [&](const char* which) {
    const double value = attributes.number(which);
    if constexpr (std::is_integral_v<T>) return static_cast<Sum>(static_cast<std::int64_t>(value));
    else return value;
  };
  const Sum alpha = factor("alpha"), beta = factor("beta");
  const Shape &a_shape = call.in[0].shape, &b_shape = call.in[1].shape;
  const std::int64_t m = a_shape[trans_a], k = a_shape[!trans_a], n = b_shape[!trans_b];
  call.check_shape(b_shape[trans_b] == k, "Gemm meets ", k, " columns and ", b_shape[trans_b], " rows");
  const ops::RealIn<T> a(call.in[0]), b(call.in[1]), c(call.has(2) ? call.in[2] : TensorRef{});
  const ops::RealOut<T> y(call.out[0]);
  std::int64_t c_row = 0, c_column = 0;
  if (call.has(2)) {
    const Shape& shape = call.in[2].shape;
    if (!shape.empty() && shape.back() != 1) c_column = 1;
    if (shape.size() == 2 && shape[0] != 1) c_row = shape[1];
  }
  ops::multiply<Sum>(a.data(), trans_a ? 1 : k, trans_a ? m : 1, b.data(), trans_b ? 1 : n, trans_b ? k : 1, m, n, k,
                        [&](std::int64_t i, std::int64_t j, Sum sum) {
                          const Sum added = c.data() ? beta * static_cast<Sum>(c[i * c_row + j * c_column]) : Sum{};
                          y[i * n + j] = static_cast<T>(alpha * sum + added);
                        });
}

void reference(Call& call) {
  ops::with_number(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_gemm() {
  return {.name = "Gemm",
          .min_inputs = 2,
          .max_inputs = 3,
          .types = "T, T, T -> T; T: number",
          .attributes = {{"alpha", 1.0f}, {"beta", 1.0f}, {"transA", 0}, {"transB", 0}},
          .infer = infer,
          .reference = reference,
          .cases = {"f32[5,7] f32[7,3] f32[3]", "f32[7,5] f32[3,7] f32[5,1] transA=1 transB=1 alpha=0.5 beta=2.0",
                    "f32[1,64] f32[10,64]! f32[10]! transB=1", "f32[4,6] f32[6,9]", "f64[3,4] f64[4,5] f64[3,5] beta=0.25",
                    "f32[3,4] f32[4,5] f32[]"}};
}

}  // namespace tenfold::ir
