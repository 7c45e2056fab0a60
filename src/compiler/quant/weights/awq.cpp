// AWQ (Lin 2024, arXiv 2306.00978): weights whose data are large are scaled up before they are rounded, and so lose less; the data are
// scaled down by as much. The power is the one that served best of those tried on MiniLM; what it scales is then rounded by GPTQ.
#include <algorithm>
#include <cmath>

#include "quant/weights/groups.h"

namespace tenfold::quant {
namespace {

constexpr double kPower = 0.25;  // of an element's root mean square
constexpr double kMax = 64;

}  // namespace

std::vector<float> awq_factors(const Moments& moments) {
  const std::int64_t n = moments.size();
  const float* const m = moments.of_group(0);
  double largest = 0, logs = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<double>(m[i * n + i]));
  if (!(largest > 0) || !std::isfinite(largest)) return std::vector<float>(static_cast<std::size_t>(n), 1);
  constexpr double kMin = 1e-12;  // of the largest moment: dead elements decide nothing
  std::vector<double> factors;
  for (std::int64_t i = 0; i < n; ++i) {
    const double square = std::max(static_cast<double>(m[i * n + i]), kMin * largest);
    factors.push_back(std::pow(square, kPower / 2)), logs += std::log(factors.back());
  }
  const double mean = std::exp(logs / static_cast<double>(n));
  std::vector<float> result;
  for (const double f : factors) result.push_back(static_cast<float>(std::clamp(f / mean, 1 / kMax, kMax)));
  return result;
}

GroupedWeights round_by_awq(const Columns& weights, const Moments& moments, const GroupForm& form) {
  const std::vector<float> factors = awq_factors(moments);
  Columns scaled = weights;
  for (std::int64_t c = 0; c < scaled.columns; ++c)
    for (std::int64_t r = 0; r < scaled.rows; ++r)
      scaled.values[static_cast<std::size_t>(c * scaled.rows + r)] *= factors[static_cast<std::size_t>(r)];
  return round_by_gptq(scaled, moments.divided(factors), form);
}

}  // namespace tenfold::quant
