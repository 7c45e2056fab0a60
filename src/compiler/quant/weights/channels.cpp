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
  float max = 0;
  for (const float x : slice) max = std::max(max, std::fabs(x));
  return max;
}

struct Rounding {
  float min, max;
  // To the nearest whole number, even ones first, as nearbyint() does, which is a call: so many halves leave no bits behind the point.
  [[gnu::always_inline]] float operator()(float x, float scale) const {
    constexpr float kHalves = 12582912;  // 1.5 * 2^23
    return (std::clamp(x / scale, min, max) + kHalves) - kHalves;
  }
};

// The sum of squares that a scale loses; once it is above `enough`, the rest is left out. The same bits by any instructions.
[[gnu::always_inline]] inline double squares_lost(const std::vector<float>& slice, float scale, const Rounding& rounded, double enough) {
  constexpr std::size_t kLanes = 8, kBlock = 512;  // floats sum so many
  const auto squared = [&](float x) __attribute__((always_inline)) {
    const float e = x - rounded(x, scale) * scale;
    return e * e;
  };
  double sum = 0;
  std::size_t i = 0;
  while (i + kLanes <= slice.size() && sum <= enough) {
    float part[kLanes] = {};
    for (const std::size_t end = std::min(slice.size(), i + kBlock); i + kLanes <= end; i += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k) part[k] += squared(slice[i + k]);
    for (const float some : part) sum += static_cast<double>(some);
  }
  if (sum > enough) return sum;
  for (; i < slice.size(); ++i) sum += static_cast<double>(squared(slice[i]));
  return sum;
}
using SquaresLost = double (*)(const std::vector<float>& slice, float scale, const Rounding& rounded, double enough);
double by_any(const std::vector<float>& slice, float scale, const Rounding& rounded, double enough) {
  return squares_lost(slice, scale, rounded, enough);
}
__attribute__((target("avx2"))) double by_avx2(const std::vector<float>& slice, float scale, const Rounding& rounded, double enough) {
  return squares_lost(slice, scale, rounded, enough);
}
const SquaresLost by_best = __builtin_cpu_supports("avx2") ? by_avx2 : by_any;

class Integers {
 public:
  explicit Integers(const Levels& levels) : rounded_{static_cast<float>(levels.min), static_cast<float>(levels.max)} {}

  float scale_of(const std::vector<float>& slice) const {
    const float max = largest_of(slice);
    if (max < rounded_.max * std::numeric_limits<float>::min()) return 1;  // no float is its scale: it rounds to zeros
    constexpr int kSteps = 50;
    float best = 1;
    double min = std::numeric_limits<double>::infinity();
    const auto consider = [&](float scale) {
      if (const double error = by_best(slice, scale, rounded_, min); error < min) min = error, best = scale;
    };
    for (int i = kSteps; i >= kSteps / 2; --i) {
      const float part = i == kSteps ? max : max * static_cast<float>(i) / kSteps;
      consider(part / rounded_.max);
      if (rounded_.max != -rounded_.min) consider(part / -rounded_.min);
    }
    return best;
  }
  void store(void* to, std::int64_t at, float x, float scale) const {
    static_cast<std::int8_t*>(to)[at] = static_cast<std::int8_t>(rounded_(x, scale));
  }

 private:
  const Rounding rounded_;
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
QuantizedWeights quantized(const Tensor& weights, int axis, DType type, const Form& form) {
  const Shape& shape = weights.shape();
  const std::int64_t channels = shape[static_cast<std::size_t>(axis)];
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d) inner *= shape[d];
  const std::int64_t outer = channels * inner == 0 ? 0 : weights.size() / (channels * inner);
  QuantizedWeights q{Tensor(type, shape), Tensor(DType::f32, {channels})};
  const float* from = weights.data<float>();
  void* const to = q.values.mutable_raw();
  float* scales = q.scales.mutable_data<float>();
  // Channels that lie beside each other are read and written together, for their lines of memory are the same.
  constexpr std::int64_t kTogether = 16, kPasses = 26;  // passes over each slice
  spread_stretches(channels, inner == 1 ? kTogether : 1, weights.bytes() * kPasses, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::vector<float>> slices(static_cast<std::size_t>(std::min(end - begin, kTogether)),
                                           std::vector<float>(static_cast<std::size_t>(outer * inner)));
    for (std::int64_t first = begin; first < end; first += kTogether) {
      const std::int64_t last = std::min(end, first + kTogether);
      const auto each = [&](auto&& f) {
        for (std::int64_t o = 0; o < outer; ++o)
          for (std::int64_t c = first; c < last; ++c)
            for (std::int64_t i = 0; i < inner; ++i)
              f((o * channels + c) * inner + i, c, slices[static_cast<std::size_t>(c - first)][static_cast<std::size_t>(o * inner + i)]);
      };
      each([&](std::int64_t at, std::int64_t, float& x) { x = from[at]; });
      for (std::int64_t c = first; c < last; ++c) scales[c] = form.scale_of(slices[static_cast<std::size_t>(c - first)]);
      each([&](std::int64_t at, std::int64_t c, float& x) { form.store(to, at, x, scales[c]); });
    }
  });
  return q;
}

}  // namespace

Levels levels_of(WeightForm form) { return form == WeightForm::seven_bits ? Levels{-64, 63} : Levels{}; }

QuantizedWeights quantize_weights(const Tensor& weights, int axis, WeightForm form) {
  if (form == WeightForm::e4m3) return quantized(weights, axis, DType::f8e4m3fn, E4m3{});
  return quantized(weights, axis, DType::i8, Integers(levels_of(form)));
}

}  // namespace tenfold::quant
