// MaskedMean (internal): the mean of vectors over dim 1, weighted by a mask of one number a vector, as sentence encoders pool their
// tokens; `normalize`: divided by its length. Made by a fusion pass for GPUs, and for packed tokens.
//
// Offsets i32 [sentences + 1] make dim 1 packed sentences (dim 0 is 1): a mean for each of rows [offsets[i], offsets[i + 1]).
#include <algorithm>
#include <cmath>

#include "ir/fault.h"
#include "ops/dim_rules.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims &x = call.dims(0), &mask = call.dims(1);
  call.check_shape(x.size() == 3 && mask.size() == 2 && mask[0] == x[0] && mask[1] == x[1], "[", text(x),
            "] needs a mask of its first two dims, not [", text(mask), "]");
  if (!call.has(2)) return call.out(0, DType::f32, {x[0], x[2]});
  call.check_shape(call.rank(2) == 1 && x[0] == Dim(1), "offsets of rank ", call.rank(2), " and a batch of ", x[0].text(),
            ", expected rank 1 and a batch of 1");
  call.out(0, DType::f32, {ops::DimRules(call).not_negative(call.dims(2)[0] - Dim(1)), x[2]});
}

// The rows of x, all behind each other, that mean `b` is of.
std::pair<std::int64_t, std::int64_t> tokens_of(const Call& call, std::int64_t b) {
  const std::int64_t tokens = call.in[0].shape[1];
  if (!call.has(2)) return {b * tokens, (b + 1) * tokens};
  const auto* offsets = call.in[2].as<std::int32_t>();
  call.check_index(offsets[b] >= 0 && offsets[b] <= offsets[b + 1] && offsets[b + 1] <= tokens, "offsets must rise from 0 to ", tokens,
                   " at most");
  return {offsets[b], offsets[b + 1]};
}

void reference(Call& call) {
  const Shape& shape = call.in[0].shape;
  const ops::RealIn<double> x(call.in[0]), mask(call.in[1]);
  const ops::RealOut<double> y(call.out[0]);
  const double min_weight = call.attributes().number("least"), min_length = call.attributes().number("min_length");
  const bool normalize = call.attributes().integer("normalize") != 0;
  for (std::int64_t b = 0; b < call.out[0].shape[0]; ++b) {
    const auto [first, last] = tokens_of(call, b);
    double weight = 0, squares = 0;
    for (std::int64_t s = first; s < last; ++s) weight += mask[s];
    for (std::int64_t h = 0; h < shape[2]; ++h) {
      double sum = 0;
      for (std::int64_t s = first; s < last; ++s) sum += x[s * shape[2] + h] * mask[s];
      y[b * shape[2] + h] = sum / std::max(weight, min_weight);
      squares += y[b * shape[2] + h] * y[b * shape[2] + h];
    }
    for (std::int64_t h = 0; normalize && h < shape[2]; ++h) y[b * shape[2] + h] /= std::max(std::sqrt(squares), min_length);
  }
}

}  // namespace

OpDef op_masked_mean() {
  return {.name = "MaskedMean",
          .min_inputs = 2,
          .max_inputs = 3,
          .types = "float, dense, i32 -> f32",
          .attributes = {{"least", 1e-9f}, {"min_length", 1e-12f}, {"normalize", 0}},
          .infer = infer,
          .reference = reference,
          .traits = {.offsets = {.operand = 2, .dim = 1}, .narrows = true},
          .cases = {"f32[2,5,8] i64[2,5](0,1)", "f32[3,7,384] f32[3,7](0.1,1) normalize=1", "f16[2,130,64] i64[2,130](0,1) normalize=1",
                    "f32[2,3,5] i32[2,3](0,1) least=1.0", "f32[1,9,12] i64[1,9](0,1) i32[4]{0,4,4,8} normalize=1",
                    "f16[1,40,64] i64[1,40](0,1) i32[3]{0,33,40}", "bf16[2,5,77] i64[2,5](0,1) normalize=1"}};
}

}  // namespace tenfold::ir
