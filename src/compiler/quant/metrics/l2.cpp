// l2: the norm of the difference by that of the reference, over all samples together.
#include <cmath>

#include "quant/metric.h"

namespace tenfold::quant {
namespace {

SampleError of_sample(const Tensor& got, const Tensor& expected) {
  SampleError sum;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double requested = expected.as_double(i), difference = got.as_double(i) - requested;
    sum.error += difference * difference, sum.size += requested * requested;
  }
  return sum;
}
double over(const std::vector<SampleError>& samples) { return std::sqrt(ratio(samples)); }

}  // namespace

Metric metric_l2() { return {"l2", of_sample, over}; }

}  // namespace tenfold::quant
