#include "quant/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tenfold::quant {
namespace {

constexpr float kLargest = 127;

float rounded(float x, float scale) { return std::clamp(std::nearbyint(x / scale), -kLargest, kLargest); }

double error_of(const std::vector<float>& slice, float scale) {
  double sum = 0;
  for (const float x : slice) {
    const double e = static_cast<double>(x) - static_cast<double>(rounded(x, scale)) * static_cast<double>(scale);
    sum += e * e;
  }
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
  std::vector<float> slice(static_cast<std::size_t>(outer * inner));
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto each = [&](auto&& f) {
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; ++i) f((o * channels + c) * inner + i, static_cast<std::size_t>(o * inner + i));
    };
    each([&](std::int64_t at, std::size_t i) { slice[i] = from[at]; });
    const float scale = q.scales.mutable_data<float>()[c] = best_scale(slice);
    each([&](std::int64_t at, std::size_t i) { to[at] = static_cast<std::int8_t>(rounded(slice[i], scale)); });
  }
  return q;
}

}  // namespace tenfold::quant
