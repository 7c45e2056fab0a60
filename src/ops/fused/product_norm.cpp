// ProductNorm (internal): LayerNormalization over the last dim of a product with a matrix, to which a row and a tensor of the result's
// shape may be added. Operands: x, the matrix, scale, bias, the row or nothing, the tensor or nothing. Results: what is normalised,
// then, if asked for, the sum before. Made by a fusion pass for GPUs.
#include <optional>

#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.need(call.rank(0) >= 2 && call.rank(1) == 2, "a product of rows with a matrix is needed");
  call.need(call.dims(0).back() == call.dims(1)[0], "the rows have ", call.dims(0).back().text(), " elements, the matrix has ",
            call.dims(1)[0].text(), " rows");
  Dims result = call.dims(0);
  result.back() = call.dims(1)[1];
  for (int i = 2; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    call.need(i == 5 ? call.dims(i) == result : call.rank(i) == 1 && call.dims(i)[0] == result.back(), "operand ", i,
              " does not have the shape of the result or of a row of it");
  }
  for (int i = 0; i < call.outputs(); ++i) call.out(i, call.dtype(0), result);
}

template <class T>
void run(Call& call) {
  const std::int64_t n = call.in[1].shape[1], k = call.in[1].shape[0], rows = n > 0 ? call.out[0].size() / n : 0;
  const auto operand = [&](std::size_t i) { return i < call.in.size() ? call.in[i] : TensorRef{}; };
  const ops::RealIn<T> x(call.in[0]), w(call.in[1]), scale(call.in[2]), bias(call.in[3]), row(operand(4)), added(operand(5));
  const ops::RealOut<T> y(call.out[0]);
  std::optional<ops::RealOut<T>> sums;
  if (call.out.size() > 1) sums.emplace(call.out[1]);
  const double epsilon = call.attributes().number("epsilon");
  std::vector<double> sum(static_cast<std::size_t>(n));
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t j = 0; j < n; ++j)
      sum[static_cast<std::size_t>(j)] = (row.data() ? static_cast<double>(row[j]) : 0) +
                                         (added.data() ? static_cast<double>(added[m * n + j]) : 0);
    for (std::int64_t i = 0; i < k; ++i) {
      const auto factor = static_cast<double>(x[m * k + i]);
      for (std::int64_t j = 0; j < n; ++j) sum[static_cast<std::size_t>(j)] += factor * static_cast<double>(w[i * n + j]);
    }
    const ops::Moments moments = ops::moments(sum.data(), n);
    for (std::int64_t j = 0; j < n; ++j) {
      const double s = sum[static_cast<std::size_t>(j)];
      if (sums) (*sums)[m * n + j] = static_cast<T>(s);
      y[m * n + j] = static_cast<T>((s - moments.mean) / std::sqrt(moments.variance + epsilon) * static_cast<double>(scale[j]) +
                                    static_cast<double>(bias[j]));
    }
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_product_norm() {
  return {.name = "ProductNorm",
          .min_inputs = 4,
          .max_inputs = 6,
          .max_outputs = 2,
          .types = "T, T, float, float, float, float -> T, T; T: float",
          .attributes = {{"epsilon", 1e-5f}},
          .infer = infer,
          .reference = reference,
          .traits = {.leave = {.rounding = true}, .weighed = true},
          .cases = {"f32[2,3,5] f32[5,8]! f32[8]! f32[8]!", "f32[4,6] f32[6,9]! f32[9]! f32[9]! f32[9]! f32[4,9] outputs=2",
                    "f16[3,16] f16[16,24]! f16[24]! f16[24]! _ f16[3,24]"},
          .on_host = "products of few rows are cut into product and norm; those of many rows run on sm_90"};
}

}  // namespace tenfold::ir
