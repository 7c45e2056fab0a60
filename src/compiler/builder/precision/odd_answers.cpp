#include "builder/precision/odd_answers.h"

#include <cmath>

#include "base/check.h"
#include "ir/finite.h"

namespace tenfold::builder {
namespace {

// What of a tensor is no finite number.
struct Odd {
  bool nan = false, high = false, low = false;   // NaN, infinity, minus infinity
  std::int64_t count = 0, first = 0;
  bool any() const { return count > 0; }
};

Odd odd_of(const Tensor& t) {
  Odd odd;
  if (!is_float(t.dtype()) || ir::all_finite(t)) return odd;
  for (std::int64_t i = 0; i < t.size(); ++i) {
    const double x = t.as_double(i);
    if (std::isfinite(x)) continue;
    if (odd.count++ == 0) odd.first = i;
    (std::isnan(x) ? odd.nan : x > 0 ? odd.high : odd.low) = true;
  }
  return odd;
}

std::string place(const Shape& shape, std::int64_t at) {
  Shape index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; at /= shape[d]) index[d] = at % shape[d];
  std::string all;
  for (const std::int64_t i : index) all += cat(all.empty() ? "" : ",", i);
  return cat("[", all, "]");
}
std::string reported(const Odd& odd, const Tensor& t) {
  return cat(t.as_double(odd.first), " at ", place(t.shape(), odd.first), " (", odd.count, " of ", t.size(), " numbers are not finite)");
}

}  // namespace

std::optional<OddAnswer> odd_answer(const InputSet& sample, const std::vector<std::string>& outputs,
                                    const std::vector<RuntimeValue>& answers) {
  for (std::size_t o = 0; o < answers.size() && o < outputs.size(); ++o) {
    if (!answers[o].is_tensor()) continue;
    const Tensor& y = answers[o].tensor();
    const Odd odd = odd_of(y);
    if (!odd.any()) continue;
    for (const auto& [input, x] : sample)
      if (const Odd given = odd_of(x); given.nan || given.high || (given.low && (odd.nan || odd.high)))
        return OddAnswer{true, cat("input '", input, "' holds ", reported(given, x), ", and by it output '", outputs[o],
                                   "' of the model in f32 holds ", reported(odd, y), ": fix this sample, or leave it out")};
    if (odd.nan)
      return OddAnswer{false, cat("output '", outputs[o], "' of the model in f32 holds ", reported(odd, y),
                                  ", though the sample is finite: the model has no answer to it, so leave it out")};
  }
  return std::nullopt;
}

void expect_numbers(const InputSet& sample, const std::vector<std::string>& outputs, const std::vector<RuntimeValue>& answers,
                    bool strict) {
  const std::optional<OddAnswer> odd = odd_answer(sample, outputs, answers);
  require(!odd || !(odd->by_sample || strict), ErrorKind::invalid_argument, odd ? odd->text : "");
}

}  // namespace tenfold::builder
