// ProductMoments (internal): a product with a matrix, to which a row and a tensor of the result's shape may be added, and for each row of
// that sum the inverse of its deviation, and its mean times that: whoever reads it normalises by sum * inverse - offset. Operands: x, the
// matrix, the row or nothing, the tensor or nothing, then inverse, offset and scale if that tensor has yet to be normalised itself (the
// norm's bias is part of the row). Made by a pass for GPUs.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

constexpr int kRow = 2, kAdded = 3, kInverse = 4, kOffset = 5, kScale = 6;

void infer(InferCall& call) {
  call.need(call.rank(0) >= 2 && call.rank(1) == 2, "a product of rows with a matrix is needed");
  call.need(call.dims(0).back() == call.dims(1)[0], "the rows have ", call.dims(0).back().text(), " elements, the matrix has ",
            call.dims(1)[0].text(), " rows");
  Dims result = call.dims(0), by_row = call.dims(0);
  result.back() = call.dims(1)[1], by_row.back() = Dim(1);
  for (int i : {kRow, kScale}) call.need(!call.has(i) || call.dims(i) == Dims{result.back()}, "operand ", i, " is no row of the result");
  call.need(!call.has(kAdded) || call.dims(kAdded) == result, "operand 3 does not have the result's shape");
  for (int i : {kInverse, kOffset}) {
    call.need(call.has(i) == call.has(kScale) && (!call.has(i) || call.has(kAdded)),
              "inverse, offset and scale belong together, "
              "and to operand 3");
    call.need(!call.has(i) || call.dims(i) == by_row, "operand ", i, " does not have one value for each row");
  }
  call.out(0, call.dtype(0), result);
  call.out(1, DType::f32, by_row);
  call.out(2, DType::f32, by_row);
}

template <class T>
void run(Call& call) {
  const std::int64_t n = call.in[1].shape[1], k = call.in[1].shape[0], rows = n > 0 ? call.out[0].size() / n : 0;
  const auto operand = [&](std::size_t i) { return i < call.in.size() ? call.in[i] : TensorRef{}; };
  const ops::RealIn<T> x(call.in[0]), w(call.in[1]), row(operand(kRow)), added(operand(kAdded)), inverse(operand(kInverse)),
      offset(operand(kOffset)), scale(operand(kScale));
  const ops::RealOut<T> y(call.out[0]), inverses(call.out[1]), offsets(call.out[2]);
  const double epsilon = call.attributes().number("epsilon");
  std::vector<double> sum(static_cast<std::size_t>(n));
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t j = 0; j < n; ++j) {
      double more = added.data() ? static_cast<double>(added[m * n + j]) : 0;
      if (scale.data()) more = (more * static_cast<double>(inverse[m]) - static_cast<double>(offset[m])) * static_cast<double>(scale[j]);
      sum[static_cast<std::size_t>(j)] = more + (row.data() ? static_cast<double>(row[j]) : 0);
    }
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        sum[static_cast<std::size_t>(j)] += static_cast<double>(x[m * k + i]) * static_cast<double>(w[i * n + j]);
    const ops::Moments moments = ops::moments(sum.data(), n);
    for (std::int64_t j = 0; j < n; ++j) y[m * n + j] = static_cast<T>(sum[static_cast<std::size_t>(j)]);
    const double deviation = std::sqrt(moments.variance + epsilon);
    inverses[m] = static_cast<T>(1 / deviation), offsets[m] = static_cast<T>(moments.mean / deviation);
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_product_moments() {
  return {.name = "ProductMoments",
          .min_inputs = 2,
          .max_inputs = 7,
          .min_outputs = 3,
          .max_outputs = 3,
          .types = "T, T, float, float, float, float, float -> T, f32, f32; T: float",
          .attributes = {{"epsilon", 1e-5f}},
          .infer = infer,
          .reference = reference,
          .cases = {"f32[2,3,5] f32[5,8]!", "f32[4,6] f32[6,9]! f32[9]! f32[4,9] f32[4,1](0.5,2) f32[4,1] f32[9]!",
                    "f16[3,16] f16[16,24]! _ f16[3,24]"},
          .tolerance = 4e-3};  // of the rows as they are stored, in bf16 too
}

}  // namespace tenfold::ir
