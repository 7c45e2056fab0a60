// top1: the share of rows whose first class by the reference is not the plan's, too.
#include "quant/metric.h"

namespace tenfold::quant {
namespace {

SampleError of_sample(const Tensor& got, const Tensor& expected) { return misplaced(got, expected, 1); }

}  // namespace

Metric metric_top1() { return {"top1", of_sample, ratio}; }

}  // namespace tenfold::quant
