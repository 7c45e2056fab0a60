// linf: the largest difference of any element, by the largest element of the reference.
#include <algorithm>
#include <cmath>

#include "quant/metric.h"

namespace tenfold::quant {
namespace {

SampleError of_sample(const Tensor& got, const Tensor& expected) {
  SampleError max;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double requested = expected.as_double(i), difference = std::fabs(got.as_double(i) - requested);
    if (!(difference <= max.error)) max.error = difference;  // not a number, too
    max.size = std::max(max.size, std::fabs(requested));
  }
  return max;
}
double over(const std::vector<SampleError>& samples) {
  SampleError max;
  for (const SampleError& one : samples) {
    if (!(one.error <= max.error)) max.error = one.error;
    max.size = std::max(max.size, one.size);
  }
  return max.error == 0 ? 0 : max.error / max.size;
}

}  // namespace

Metric metric_linf() { return {"linf", of_sample, over}; }

}  // namespace tenfold::quant
