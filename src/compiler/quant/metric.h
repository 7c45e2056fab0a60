// Metrics: how far a plan's outputs are from the reference's. One file each in metrics/.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::quant {

// What one sample adds above and below the fraction that a metric is.
struct SampleError {
  double error = 0, size = 0;
};

struct Metric {
  std::string_view name;
  // Of two tensors of floats of one shape, which is not empty.
  SampleError (*of_sample)(const Tensor& got, const Tensor& expected);
  double (*over)(const std::vector<SampleError>& samples);
};
const std::vector<Metric>& metrics();
const Metric& metric(std::string_view name);   // throws invalid_argument naming those that there are

// The value over all samples, and an interval that holds it with 95 % for other samples of the same kind (Efron 1979: the samples are
// drawn anew, with repetition, by a fixed seed).
struct Estimate {
  double value = 0, low = 0, high = 0;
};
Estimate estimate(const Metric& metric, const std::vector<SampleError>& samples);

// For metrics: the sum of errors by the sum of sizes, and the rows of a tensor, along its last axis.
double ratio(const std::vector<SampleError>& samples);
struct Rows {
  std::int64_t count = 1, length = 1;
  explicit Rows(const Tensor& t);
};
// Whether `label` is among the `places` largest of a row. Of equal ones the first count; what is NaN is not.
bool is_placed(const Tensor& t, std::int64_t row, std::int64_t label, int places);
// The share of rows whose first class by `expected` is not among the `places` first by `got`.
SampleError misplaced(const Tensor& got, const Tensor& expected, int places);

}  // namespace tenfold::quant
