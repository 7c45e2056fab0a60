#include "tenfold/internal/measure_outputs.h"

#include "base/check.h"
#include "quant/metric.h"

namespace tenfold {
namespace {

std::string problem_of(const Tensor* got, const Tensor& expected) {
  if (!got) return "the first has no such output";
  if (got->shape() != expected.shape()) return cat("[", text(got->shape()), "] beside [", text(expected.shape()), "]");
  return is_float(got->dtype()) ? "" : cat(name(got->dtype()), " beside ", name(expected.dtype()));
}

}  // namespace

std::vector<MeasuredOutput> measure_outputs(const std::string& metric, std::span<const OutputSet> reference,
                                            std::span<const OutputSet> candidate) {
  const quant::Metric& how = quant::metric(metric);
  std::vector<MeasuredOutput> found;
  if (reference.empty()) return found;
  for (const auto& [output, first] : reference.front()) {
    if (!is_float(first.dtype())) continue;
    MeasuredOutput& one = found.emplace_back(MeasuredOutput{output, {}});
    std::vector<quant::SampleError> errors;
    for (std::size_t i = 0; i < reference.size() && one.problem.empty(); ++i) {
      const Tensor& expected = reference[i].at(output);
      const Tensor* const got = i < candidate.size() && candidate[i].count(output) ? &candidate[i].at(output) : nullptr;
      one.problem = problem_of(got, expected);
      if (one.problem.empty() && expected.size() > 0) errors.push_back(how.of_sample(*got, expected));
    }
    if (!one.problem.empty() || errors.empty()) continue;
    const quant::Estimate e = quant::estimate(how, errors);
    one.error = e.value, one.low = e.low, one.high = e.high;
  }
  return found;
}

}  // namespace tenfold
