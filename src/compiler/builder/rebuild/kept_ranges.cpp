#include "builder/rebuild/kept_ranges.h"

#include <algorithm>
#include <cmath>

namespace tenfold::builder {
namespace {

Tensor as_tensor(const quant::Range& range) {
  Tensor t(DType::f64, {2});
  t.mutable_data<double>()[0] = range.low, t.mutable_data<double>()[1] = range.high;
  return t;
}

Tensor as_tensor(const std::vector<float>& numbers) {
  Tensor t(DType::f32, {static_cast<std::int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), t.mutable_data<float>());
  return t;
}

// A channel's factor is above zero.
std::vector<float> floats_of(const Tensor& t, bool above_zero, std::string& problem) {
  const bool fits = t.dtype() == DType::f32 && t.shape().size() == 1;
  if (!fits) return problem = "floats in a row expected", std::vector<float>();
  std::vector<float> numbers(t.data<float>(), t.data<float>() + t.size());
  for (const float x : numbers)
    if (!std::isfinite(x) || (above_zero && x <= 0)) problem = "numbers that are no factors of a calibration";
  return numbers;
}

}  // namespace

void each_kept(const quant::Ranges& ranges, const std::function<void(std::string_view, const std::string&, const Tensor&)>& visit) {
  for (const auto& [value, range] : ranges) visit("values", value, as_tensor(range));
  for (const auto& [value, factors] : ranges.corrections.channels) visit("channels", value, as_tensor(factors));
  for (const auto& [value, weights] : ranges.corrections.weights) visit("weights", value, weights);
  for (const auto& [value, biases] : ranges.corrections.biases) visit("biases", value, as_tensor(biases));
}

bool take_kept(std::string_view kind, const std::string& value, const Tensor& tensor, quant::Ranges& ranges, std::string& problem) {
  if (kind == "values") {
    const bool fits = tensor.dtype() == DType::f64 && tensor.shape() == Shape{2};
    const double low = fits ? tensor.data<double>()[0] : 0, high = fits ? tensor.data<double>()[1] : 0;
    if (!fits || !std::isfinite(low) || !std::isfinite(high) || low > 0 || high < 0) problem = "a range is two numbers around zero";
    ranges[value] = {low, high};
  } else if (kind == "channels") {
    ranges.corrections.channels[value] = floats_of(tensor, true, problem);
  } else if (kind == "biases") {
    ranges.corrections.biases[value] = floats_of(tensor, false, problem);
  } else if (kind == "weights") {
    if (tensor.dtype() != DType::i8) problem = "rounded weights are bytes";
    ranges.corrections.weights[value] = tensor;
  } else {
    return false;
  }
  return true;
}

}  // namespace tenfold::builder
