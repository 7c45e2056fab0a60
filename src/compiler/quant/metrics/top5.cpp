// top5: the share of rows whose first class by the reference is not among the plan's first 5.
#include "quant/metric.h"

namespace tenfold::quant {
namespace {

SampleError of_sample(const Tensor& got, const Tensor& expected) { return misplaced(got, expected, 5); }

}  // namespace

Metric metric_top5() { return {"top5", of_sample, ratio}; }

}  // namespace tenfold::quant
