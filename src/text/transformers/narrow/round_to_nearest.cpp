// RTN: each value becomes the nearest of 16 or 256 steps of its group. The value that is farthest from 0 becomes the step -8 or -128, so
// that all steps are used; the scale is negative where that value is positive.
#include <algorithm>
#include <cmath>

#include "text/fail.h"
#include "text/transformers/narrow/narrow_weights.h"

namespace tenfold::transformers {
namespace {

constexpr std::int64_t kTile = 64;   // outputs whose values are in the cache while those of an input are written

// Steps of a group, counted from 0 on, and its scale.
float round_group(const float* from, std::int64_t count, int bits, std::uint8_t* to) {
  const float half = bits == 4 ? 8.0f : 128.0f;
  float low = 0, high = 0;
  for (std::int64_t i = 0; i < count; ++i) low = std::min(low, from[i]), high = std::max(high, from[i]);
  const float scale = (-low >= high ? low : high) / -half;
  for (std::int64_t i = 0; i < count; ++i) {
    const float step = scale == 0 ? 0.0f : std::nearbyint(from[i] / scale);
    to[i] = static_cast<std::uint8_t>(static_cast<int>(std::clamp(step, -half, half - 1) + half));
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
        if (!std::all_of(column.begin(), column.end(), [](float v) { return std::isfinite(v); }))
          tokenizing::fail(ErrorKind::invalid_model, "the tensor '" + name + "' has values that are no finite numbers, which no step of " +
                                                         form.text() + " stands for");
        for (std::int64_t b = 0; b < maker.blocks(); ++b)
          maker.set_scale(b, at, round_group(column.data() + b * block, std::min(block, layer.in - b * block), form.bits,
                                             steps.data() + n * layer.in + b * block));
      }
      for (std::int64_t k = 0; k < layer.in; ++k)
        for (std::int64_t n = 0; n < count; ++n) maker.set(k, first + n, steps[static_cast<std::size_t>(n * layer.in + k)]);
    }
    return maker.take();
  }

 private:
  NarrowForm form_;
};

}  // namespace

NarrowSource round_to_nearest(const NarrowForm& form) { return std::make_shared<RoundToNearest>(form); }

}  // namespace tenfold::transformers
