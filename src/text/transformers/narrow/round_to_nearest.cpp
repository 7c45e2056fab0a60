// RTN: each value becomes the nearest of 16 or 256 steps of its group. The value that is farthest from 0 becomes the step -8 or -128, so
// that all steps are used; the scale is negative where that value is positive.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "text/fail.h"
#include "text/transformers/narrow/narrow_weights.h"

namespace tenfold::transformers {
namespace {

constexpr std::int64_t kTile = 64;   // outputs whose values are in the cache while those of an input are written
constexpr float kWhole = 0x1.8p23f;   // behind its sum with a float of less than 2^22 no fraction is left

constexpr std::int64_t kLanes = 16;   // values side by side, as compilers need them for vectors

// The value that is farthest from 0; NaN where one is no finite number.
float farthest(const float* from, std::int64_t count) {
  float low[kLanes] = {}, high[kLanes] = {}, faults[kLanes] = {};
  const auto take = [&](std::int64_t lane, float v) {
    low[lane] = v < low[lane] ? v : low[lane], high[lane] = v > high[lane] ? v : high[lane], faults[lane] += v * 0.0f;
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) take(lane, from[i + lane]);
  for (; i < count; ++i) take(i % kLanes, from[i]);
  const float lowest = *std::min_element(low, low + kLanes), highest = *std::max_element(high, high + kLanes);
  for (const float fault : faults)
    if (fault != 0) return std::numeric_limits<float>::quiet_NaN();
  return -lowest >= highest ? lowest : highest;
}

// Steps of a group, counted from 0 on, and its scale.
float round_group(const float* from, std::int64_t count, int bits, std::uint8_t* to) {
  const float half = bits == 4 ? 8.0f : 128.0f, scale = farthest(from, count) / -half;
  if (scale == 0 || std::isnan(scale)) return std::fill_n(to, count, static_cast<std::uint8_t>(half)), scale;
  for (std::int64_t i = 0; i < count; ++i) {
    const float step = std::clamp(from[i] / scale, -half, half - 1);
    to[i] = static_cast<std::uint8_t>(static_cast<int>(step + kWhole - kWhole + half));
  }
  return scale;
}

class RoundToNearest final : public NarrowWeights {
 public:
  explicit RoundToNearest(const NarrowForm& form) : form_(form) {}
  std::string text() const override { return form_.text(); }

  std::optional<NarrowMatrix> take(const Weights& weights, const LinearLayer& layer) const override {
    // Errors of logits choose other words at once: theirs are rounded to 8 bits at least.
    const NarrowForm form = layer.gives_logits && form_.bits == 4 ? NarrowForm{.bits = 8} : form_;
    const std::string name = layer.name + ".weight";
    const Tensor floats = weights.take_alone(name, layer.by_input ? Shape{layer.in, layer.out} : Shape{layer.out, layer.in});
    const std::int64_t block = form.block(layer.in);
    NarrowMaker maker(form.bits, layer.in, layer.out, block);
    std::vector<float> column(static_cast<std::size_t>(layer.in));
    std::vector<std::uint8_t> steps(static_cast<std::size_t>(layer.in * kTile));
    for (std::int64_t first = 0; first < layer.out; first += kTile) {
      const std::int64_t count = std::min(kTile, layer.out - first);
      for (std::int64_t n = 0; n < count; ++n) {
        const std::int64_t at = first + n;
        read_floats(floats, layer.by_input ? at : at * layer.in, layer.by_input ? layer.out : 1, layer.in, column.data());
        for (std::int64_t b = 0; b < maker.blocks(); ++b) {
          const float scale = round_group(column.data() + b * block, std::min(block, layer.in - b * block), form.bits,
                                          steps.data() + n * layer.in + b * block);
          if (std::isnan(scale))
            tokenizing::fail(ErrorKind::invalid_model, "the tensor '" + name + "' has values that are no finite numbers, which no step "
                                                       "of " + form.text() + " stands for");
          maker.set_scale(b, at, scale);
        }
      }
      std::array<std::uint8_t, kTile> row;
      for (std::int64_t k = 0; k < layer.in; ++k) {
        for (std::int64_t n = 0; n < count; ++n) row[static_cast<std::size_t>(n)] = steps[static_cast<std::size_t>(n * layer.in + k)];
        maker.set_row(k, first, std::span(row.data(), static_cast<std::size_t>(count)));
      }
    }
    return maker.take();
  }

 private:
  NarrowForm form_;
};

}  // namespace

NarrowSource round_to_nearest(const NarrowForm& form) { return std::make_shared<RoundToNearest>(form); }

}  // namespace tenfold::transformers
