// linf: the largest difference of any element, by the largest element of the reference.
#include <algorithm>
#include <cmath>

#include "quant/metric.h"

namespace tenfold::quant {
namespace {

SampleError of_sample(const Tensor& got, const Tensor& want) {
  SampleError most;
  for (std::int64_t i = 0; i < want.size(); ++i) {
    const double requested = want.as_double(i), difference = std::fabs(got.as_double(i) - requested);
    if (!(difference <= most.error)) most.error = difference;  // not a number, too
    most.size = std::max(most.size, std::fabs(requested));
  }
  return most;
}
double over(const std::vector<SampleError>& samples) {
  SampleError most;
  for (const SampleError& one : samples) {
    if (!(one.error <= most.error)) most.error = one.error;
    most.size = std::max(most.size, one.size);
  }
  return most.error == 0 ? 0 : most.error / most.size;
}

}  // namespace

Metric metric_linf() { return {"linf", of_sample, over}; }

}  // namespace tenfold::quant
