#include "quant/weights/channels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/threads/spread.h"
#include "base/types/element.h"

namespace tenfold::quant {
namespace {

constexpr float kLargestE4m3 = 448;

float largest_of(const std::vector<float>& slice) {
  float most = 0;
  for (const float x : slice) most = std::max(most, std::fabs(x));
  return most;
}

class Integers {
 public:
  explicit Integers(const Levels& levels) : least_(static_cast<float>(levels.least)), most_(static_cast<float>(levels.most)) {}

  float scale_of(const std::vector<float>& slice) const {
    const float most = largest_of(slice);
    if (most < most_ * std::numeric_limits<float>::min()) return 1;  // no float is its scale: it rounds to zeros
    constexpr int kSteps = 50;
    float best = 1;
    double least = std::numeric_limits<double>::infinity();
    const auto consider = [&](float scale) {
      if (const double error = error_of(slice, scale); error < least) least = error, best = scale;
    };
    for (int i = kSteps; i >= kSteps / 2; --i) {
      const float part = i == kSteps ? most : most * static_cast<float>(i) / kSteps;
      consider(part / most_);
      if (most_ != -least_) consider(part / -least_);
    }
    return best;
  }
  void store(void* to, std::int64_t at, float x, float scale) const {
    static_cast<std::int8_t*>(to)[at] = static_cast<std::int8_t>(rounded(x, scale));
  }

 private:
  // To the nearest whole number, even ones first, as nearbyint() does, which is a call: so many halves leave no bits behind the point.
  float rounded(float x, float scale) const {
    constexpr float kHalves = 12582912;  // 1.5 * 2^23
    return (std::clamp(x / scale, least_, most_) + kHalves) - kHalves;
  }
  double error_of(const std::vector<float>& slice, float scale) const {
    constexpr std::size_t kLanes = 8, kBlock = 512;  // floats sum so many
    const auto squared = [&](float x) {
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

  const float least_, most_;
};

struct E4m3 {
  static float scale_of(const std::vector<float>& slice) {
    const float scale = largest_of(slice) / kLargestE4m3;
    return std::isnormal(scale) ? scale : 1;
  }
  static void store(void* to, std::int64_t at, float x, float scale) {
    store_double(DType::f8e4m3fn, to, at, static_cast<double>(std::clamp(x / scale, -kLargestE4m3, kLargestE4m3)));
  }
};

template <class Form>
QuantisedWeights quantised(const Tensor& weights, int axis, DType type, const Form& form) {
  const Shape& shape = weights.shape();
  const std::int64_t channels = shape[static_cast<std::size_t>(axis)];
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d) inner *= shape[d];
  const std::int64_t outer = channels * inner == 0 ? 0 : weights.size() / (channels * inner);
  QuantisedWeights q{Tensor(type, shape), Tensor(DType::f32, {channels})};
  const float* from = weights.data<float>();
  void* const to = q.values.mutable_raw();
  float* scales = q.scales.mutable_data<float>();
  const auto one = [&](std::int64_t c, std::vector<float>& slice) {
    const auto each = [&](auto&& f) {
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; ++i) f((o * channels + c) * inner + i, static_cast<std::size_t>(o * inner + i));
    };
    each([&](std::int64_t at, std::size_t i) { slice[i] = from[at]; });
    const float scale = scales[c] = form.scale_of(slice);
    each([&](std::int64_t at, std::size_t i) { form.store(to, at, slice[i], scale); });
  };
  constexpr std::int64_t kPasses = 26;  // over each slice
  spread_stretches(channels, 1, weights.bytes() * kPasses, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> slice(static_cast<std::size_t>(outer * inner));
    for (std::int64_t c = begin; c < end; ++c) one(c, slice);
  });
  return q;
}

}  // namespace

Levels levels_of(WeightForm form) { return form == WeightForm::seven_bits ? Levels{-64, 63} : Levels{}; }

QuantisedWeights quantise_weights(const Tensor& weights, int axis, WeightForm form) {
  if (form == WeightForm::e4m3) return quantised(weights, axis, DType::f8e4m3fn, E4m3{});
  return quantised(weights, axis, DType::i8, Integers(levels_of(form)));
}

}  // namespace tenfold::quant
