#include "quant/weights/channels.h"

#include <algorithm>
#include <cmath>

#include "base/types/element.h"
#include "quant/weights/groups.h"

namespace tenfold::quant {
namespace {

constexpr float kLargestE4m3 = 448;
constexpr GroupForm kSevenBits{.bits = 7, .around_zero = true};
constexpr int kMiddle = 64;

// `scale` of a slice's elements, then `store` of each: its place, the element and the scale.
template <class Scale, class Store>
Tensor by_slices(const Tensor& weights, int axis, Scale&& scale, Store&& store) {
  const Shape& shape = weights.shape();
  const std::int64_t channels = shape[static_cast<std::size_t>(axis)];
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d) inner *= shape[d];
  const std::int64_t each = channels == 0 ? 0 : weights.size() / channels;
  Tensor scales(DType::f32, {channels});
  std::vector<float> slice(static_cast<std::size_t>(each));
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto place = [&](std::int64_t i) { return (i / inner * channels + c) * inner + i % inner; };
    for (std::int64_t i = 0; i < each; ++i) slice[static_cast<std::size_t>(i)] = weights.data<float>()[place(i)];
    const float step = scales.mutable_data<float>()[c] = scale(slice);
    for (std::int64_t i = 0; i < each; ++i) store(place(i), slice[static_cast<std::size_t>(i)], step);
  }
  return scales;
}

}  // namespace

QuantisedWeights e4m3_weights(const Tensor& weights, int axis) {
  QuantisedWeights q{Tensor(DType::f8e4m3fn, weights.shape()), {}};
  q.scales = by_slices(
      weights, axis,
      [](const std::vector<float>& slice) {
        float most = 0;
        for (const float x : slice) most = std::max(most, std::fabs(x));
        const float step = most / kLargestE4m3;
        return std::isnormal(step) ? step : 1;
      },
      [&](std::int64_t at, float x, float step) {
        store_double(DType::f8e4m3fn, q.values.mutable_raw(), at, static_cast<double>(std::clamp(x / step, -kLargestE4m3, kLargestE4m3)));
      });
  return q;
}

QuantisedWeights seven_bit_weights(const Tensor& weights, int axis) {
  QuantisedWeights q{Tensor(DType::i8, weights.shape()), {}};
  q.scales = by_slices(
      weights, axis, [](const std::vector<float>& slice) { return best_steps(slice, {}, kSevenBits).scale; },
      [&](std::int64_t at, float x, float step) {
        const int level = Steps{step, kMiddle}.level(static_cast<double>(x), kSevenBits.largest());
        q.values.mutable_data<std::int8_t>()[at] = static_cast<std::int8_t>(level - kMiddle);
      });
  return q;
}

}  // namespace tenfold::quant
