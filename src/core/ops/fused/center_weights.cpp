// CenterWeights (internal): what a product needs that reads the sum before a norm in place of what the norm makes: the matrix, its rows
// times the norm's scale and without the mean of each column, and the norm's bias times the matrix. Operands: the matrix, scale, bias.
// Only folded, by passes/rules/defer_norms.
#include <algorithm>

#include "base/types/half.h"
#include "base/types/half_convert.h"
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) == 2, "a matrix is needed");
  for (int i : {1, 2})
    call.check_shape(call.dims(i) == Dims{call.dims(0)[0]}, "operand ", i, " does not have one value for each row of the matrix");
  call.out(0, call.dtype(0), call.dims(0));
  call.out(1, call.dtype(0), {call.dims(0)[1]});
}

void reference(Call& call) {
  const std::int64_t rows = call.in[0].shape[0], columns = call.in[0].shape[1];
  const auto count = static_cast<std::size_t>(rows * columns), width = static_cast<std::size_t>(columns);
  std::vector<float> matrix(count);
  if (call.in[0].dtype == DType::f16)
    std::transform(call.in[0].as<std::uint16_t>(), call.in[0].as<std::uint16_t>() + count, matrix.begin(), half_to_float);
  else
    matrix = ops::converted<float>(call.in[0]);
  const ops::RealIn<float> scale(call.in[1]), bias(call.in[2]);
  std::vector<double> mean(width), shift(width);
  float* w = matrix.data();
  for (std::int64_t i = 0; i < rows; ++i, w += columns)
    for (std::size_t j = 0; j < width; ++j) {
      shift[j] += static_cast<double>(bias[i]) * static_cast<double>(w[j]);
      w[j] *= scale[i];
      mean[j] += static_cast<double>(w[j]);
    }
  std::vector<float> min(width);
  for (std::size_t j = 0; j < width; ++j) min[j] = static_cast<float>(mean[j] / static_cast<double>(rows));
  w = matrix.data();
  for (std::int64_t i = 0; i < rows; ++i, w += columns)
    for (std::size_t j = 0; j < width; ++j) w[j] -= min[j];
  if (call.out[0].dtype == DType::f16) {
    floats_to_fp16(matrix.data(), call.out[0].as<std::uint16_t>(), count);
  } else {
    const ops::RealOut<float> y(call.out[0]);
    std::copy(matrix.begin(), matrix.end(), y.data());
  }
  const ops::RealOut<float> s(call.out[1]);
  for (std::size_t j = 0; j < width; ++j) s[static_cast<std::int64_t>(j)] = static_cast<float>(shift[j]);
}

}  // namespace

OpDef op_center_weights() {
  return {.name = "CenterWeights",
          .min_inputs = 3,
          .max_inputs = 3,
          .min_outputs = 2,
          .max_outputs = 2,
          .types = "T, float, float -> T, T; T: float",
          .infer = infer,
          .reference = reference,
          .cases = {"f32[6,5] f32[6] f32[6]", "f16[16,24] f16[16] f32[16]", "bf16[7,9] bf16[7] bf16[7]"},
          .on_host = "it is only folded, of constants"};
}

}  // namespace tenfold::ir
