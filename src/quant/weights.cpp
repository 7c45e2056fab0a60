#include "quant/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/threads/spread.h"

namespace tenfold::quant {
namespace {

constexpr float kLargest = 127;

// To the nearest whole number, even ones first, as nearbyint() does, which is a call: so many halves leave no bits behind the point.
float rounded(float x, float scale) {
  constexpr float kHalves = 12582912;   // 1.5 * 2^23
  return (std::clamp(x / scale, -kLargest, kLargest) + kHalves) - kHalves;
}

double error_of(const std::vector<float>& slice, float scale) {
  constexpr std::size_t kLanes = 8, kBlock = 512;   // floats sum so many
  const auto squared = [scale](float x) {
    const float e = x - rounded(x, scale) * scale;
    return e * e;
  };
  double sum = 0;
  std::size_t i = 0;
  while (i + kLanes <= slice.size()) {
    float part[kLanes] = {};
    for (const std::size_t end = std::min(slice.size(), i + kBlock); i + kLanes <= end; i += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k) part[k] += squared(slice[i + k]);
    for (const float some : part) sum += static_cast<double>(some);
  }
  for (; i < slice.size(); ++i) sum += static_cast<double>(squared(slice[i]));
  return sum;
}

float best_scale(const std::vector<float>& slice) {
  float most = 0;
  for (const float x : slice) most = std::max(most, std::fabs(x));
  if (most < kLargest * std::numeric_limits<float>::min()) return 1;   // no float is its scale: it rounds to zeros
  constexpr int kSteps = 50;
  float best = most / kLargest;
  double least = error_of(slice, best);
  for (int i = kSteps - 1; i >= kSteps / 2; --i) {
    const float scale = most * static_cast<float>(i) / kSteps / kLargest;
    if (const double error = error_of(slice, scale); error < least) least = error, best = scale;
  }
  return best;
}

}  // namespace

QuantisedWeights quantise_weights(const Tensor& weights, int axis) {
  const Shape& shape = weights.shape();
  const std::int64_t channels = shape[static_cast<std::size_t>(axis)];
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d) inner *= shape[d];
  const std::int64_t outer = channels * inner == 0 ? 0 : weights.size() / (channels * inner);
  QuantisedWeights q{Tensor(DType::i8, shape), Tensor(DType::f32, {channels})};
  const float* from = weights.data<float>();
  auto* to = q.values.mutable_data<std::int8_t>();
  float* scales = q.scales.mutable_data<float>();
  const auto one = [&](std::int64_t c, std::vector<float>& slice) {
    const auto each = [&](auto&& f) {
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; ++i) f((o * channels + c) * inner + i, static_cast<std::size_t>(o * inner + i));
    };
    each([&](std::int64_t at, std::size_t i) { slice[i] = from[at]; });
    const float scale = scales[c] = best_scale(slice);
    each([&](std::int64_t at, std::size_t i) { to[at] = static_cast<std::int8_t>(rounded(slice[i], scale)); });
  };
  constexpr std::int64_t kPasses = 26;   // over each slice
  spread_stretches(channels, 1, weights.bytes() * kPasses, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> slice(static_cast<std::size_t>(outer * inner));
    for (std::int64_t c = begin; c < end; ++c) one(c, slice);
  });
  return q;
}

}  // namespace tenfold::quant
