#include "quant/weights/groups.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/threads/spread.h"
#include "base/types/half.h"

namespace tenfold::quant {
namespace {

constexpr int kShares = 50;   // ranges are tried in steps of 2 %

double squared_error(std::span<const float> numbers, std::span<const double> importance, const Steps& steps, int largest) {
  double sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double x = static_cast<double>(numbers[i]);
    const double e = x - (steps.level(x, largest) - steps.zero) * static_cast<double>(steps.scale);
    sum += e * e * (importance.empty() ? 1 : importance[i]);
  }
  return sum;
}

// A scale as it is written; f16 has none beyond 65504, which becomes infinite and so is no candidate.
float written(double scale, DType type) {
  const auto step = static_cast<float>(scale);
  if (type == DType::f16) return half_to_float(float_to_half(step));
  return type == DType::bf16 ? bf16_to_float(float_to_bf16(step)) : step;
}

// Around zero both 2^(bits-1) and one less are worth a try as what the largest number becomes.
std::vector<Steps> candidates(double low, double high, const GroupForm& form) {
  std::vector<Steps> found;
  const auto add = [&](double scale, double zero) {
    const float step = written(scale, form.scales);
    if (std::isnormal(step)) found.push_back({step, static_cast<int>(std::clamp<double>(std::nearbyint(zero), 0, form.largest()))});
  };
  const int middle = 1 << (form.bits - 1);
  for (int share = kShares; share >= kShares / 2; --share) {
    const double part = static_cast<double>(share) / kShares;
    if (form.around_zero) {
      const double max = std::max(-low, high) * part;
      add(max / (middle - 1), middle), add(max / middle, middle);
    } else {
      const double scale = (high - low) * part / form.largest();
      add(scale, scale > 0 ? -low * part / scale : 0);
    }
  }
  return found;
}

}  // namespace

int Steps::level(double x, int largest) const {
  return static_cast<int>(std::clamp<double>(std::nearbyint(x / static_cast<double>(scale)) + zero, 0, largest));
}

double GroupedWeights::at(std::int64_t row, std::int64_t column, std::int64_t group) const {
  const auto g = static_cast<std::size_t>(column * groups + row / group);
  return (values[static_cast<std::size_t>(column * rows + row)] - zeros[g]) * static_cast<double>(scales[g]);
}

Steps best_steps(std::span<const float> numbers, std::span<const double> importance, const GroupForm& form) {
  double low = 0, high = 0;
  for (const float x : numbers) low = std::min(low, static_cast<double>(x)), high = std::max(high, static_cast<double>(x));
  Steps best{1, form.around_zero ? 1 << (form.bits - 1) : 0};   // of zeros, and of what no float is the scale of
  double min = std::numeric_limits<double>::infinity();
  for (const Steps& steps : candidates(low, high, form))
    if (const double error = squared_error(numbers, importance, steps, form.largest()); error < min) min = error, best = steps;
  return best;
}

GroupedWeights with_scales(const Columns& weights, std::span<const double> importance, const GroupForm& form) {
  GroupedWeights q{weights.rows, weights.columns, (weights.rows + form.group - 1) / form.group, {}, {}, {}};
  q.values.resize(static_cast<std::size_t>(q.rows * q.columns));
  q.scales.resize(static_cast<std::size_t>(q.groups * q.columns)), q.zeros.resize(q.scales.size());
  const std::int64_t touched = 2 * kShares * static_cast<std::int64_t>(weights.values.size());
  spread_stretches(q.columns, 1, touched, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c)
      for (std::int64_t g = 0; g < q.groups; ++g) {
        const auto first = static_cast<std::size_t>(g * form.group);
        const auto count = static_cast<std::size_t>(std::min(form.group, q.rows - g * form.group));
        const Steps steps =
            best_steps(weights.column(c).subspan(first, count), importance.empty() ? importance : importance.subspan(first, count), form);
        const auto at = static_cast<std::size_t>(c * q.groups + g);
        q.scales[at] = steps.scale, q.zeros[at] = static_cast<std::uint8_t>(steps.zero);
      }
  });
  return q;
}

}  // namespace tenfold::quant
