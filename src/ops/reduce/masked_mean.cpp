// MaskedMean (internal): the mean of vectors over dim 1, weighted by a mask of one number a vector, as sentence encoders pool their
// tokens; `normalize`: divided by its length. Made by a fusion pass for GPUs.
#include "ops/real_access.h"

#include <cmath>

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims &x = call.dims(0), &mask = call.dims(1);
  call.need(x.size() == 3 && mask.size() == 2 && mask[0] == x[0] && mask[1] == x[1], "[", text(x),
            "] needs a mask of its first two dims, not [", text(mask), "]");
  call.out(0, DType::f32, {x[0], x[2]});
}

void reference(Call& call) {
  const Shape& shape = call.in[0].shape;
  const ops::RealIn<double> x(call.in[0]), mask(call.in[1]);
  const ops::RealOut<double> y(call.out[0]);
  const double least = call.attributes().number("least"), least_length = call.attributes().number("least_length");
  const bool normalize = call.attributes().integer("normalize") != 0;
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    double weight = 0, squares = 0;
    for (std::int64_t s = 0; s < shape[1]; ++s) weight += mask[b * shape[1] + s];
    for (std::int64_t h = 0; h < shape[2]; ++h) {
      double sum = 0;
      for (std::int64_t s = 0; s < shape[1]; ++s) sum += x[(b * shape[1] + s) * shape[2] + h] * mask[b * shape[1] + s];
      y[b * shape[2] + h] = sum / std::max(weight, least);
      squares += y[b * shape[2] + h] * y[b * shape[2] + h];
    }
    for (std::int64_t h = 0; normalize && h < shape[2]; ++h) y[b * shape[2] + h] /= std::max(std::sqrt(squares), least_length);
  }
}

}  // namespace

OpDef op_masked_mean() {
  return {.name = "MaskedMean",
          .min_inputs = 2,
          .max_inputs = 2,
          .attributes = {{"least", 1e-9f}, {"least_length", 1e-12f}, {"normalize", 0}},
          .infer = infer,
          .reference = reference,
          .cases = {"f32[2,5,8] i64[2,5](0,1)", "f32[3,7,384] f32[3,7](0.1,1) normalize=1", "f16[2,130,64] i64[2,130](0,1) normalize=1",
                    "f32[2,3,5] i32[2,3](0,1) least=1.0"}};
}

}  // namespace tenfold::ir
