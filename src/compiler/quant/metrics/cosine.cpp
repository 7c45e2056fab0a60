// cosine: 1 - the cosine of the angle between the plan's row and the reference's, the mean over all rows along the last axis.
#include <cmath>

#include "quant/metric.h"

namespace tenfold::quant {
namespace {

SampleError of_sample(const Tensor& got, const Tensor& expected) {
  const Rows rows(expected);
  SampleError sum{0, static_cast<double>(rows.count)};
  for (std::int64_t r = 0; r < rows.count; ++r) {
    double product = 0, mine = 0, requested = 0;
    for (std::int64_t i = r * rows.length; i < (r + 1) * rows.length; ++i) {
      const double x = got.as_double(i), y = expected.as_double(i);
      product += x * y, mine += x * x, requested += y * y;
    }
    const bool both_zero = mine == 0 && requested == 0;
    sum.error += both_zero ? 0 : 1 - (mine == 0 || requested == 0 ? 0 : product / std::sqrt(mine * requested));
  }
  return sum;
}

}  // namespace

Metric metric_cosine() { return {"cosine", of_sample, ratio}; }

}  // namespace tenfold::quant
