// A matrix as MXFP4 or NVFP4: each value becomes the nearest e2m1 in units of its block's scale.
#include <algorithm>
#include <cmath>
#include <span>

#include "text/fail.h"
#include "text/transformers/narrow/rounded_matrix.h"

namespace tenfold::transformers {
namespace {

float largest_of(std::span<const float> values) {
  float largest = 0;
  for (const float v : values) largest = std::max(largest, std::fabs(v));
  return largest;
}

class RoundToFp4 final : public NarrowWeights {
 public:
  explicit RoundToFp4(const NarrowForm& form) : form_(form), logits_(round_to_nearest({.bits = 8})) {}
  std::string text() const override { return form_.text(); }

  std::optional<NarrowMatrix> take(const Weights& weights, const LinearLayer& layer) const override {
    if (layer.gives_logits) return logits_->take(weights, layer);
    const Tensor floats =
        weights.take_alone(layer.name + ".weight", layer.by_input ? Shape{layer.in, layer.out} : Shape{layer.out, layer.in});
    check_group(form_.block(layer.in), layer.in, layer.name);
    return narrow_matrix(round_to_fp4(matrix_of(floats, layer), layer, form_));
  }

 private:
  NarrowForm form_;
  NarrowSource logits_;  // an error there changes words at once
};

}  // namespace

RoundedMatrix round_to_fp4(const std::vector<float>& matrix, const LinearLayer& layer, const NarrowForm& form) {
  if (!std::all_of(matrix.begin(), matrix.end(), [](float v) { return std::isfinite(v); }))
    tokenizing::fail(ErrorKind::invalid_model, "the tensor '" + layer.name + ".weight' has values that are no finite numbers, which " +
                                                   form.text() + " cannot hold");
  RoundedMatrix r{.bits = 4,
                  .in = layer.in,
                  .out = layer.out,
                  .block = form.block(layer.in),
                  .fp4 = form.fp4,
                  .values = std::vector<std::uint8_t>(matrix.size()),
                  .scales = {}};
  r.global = global_scale(form.fp4, largest_of(matrix));
  for (std::int64_t n = 0; n < layer.out; ++n)
    for (std::int64_t k = 0; k < layer.in; k += r.block) {
      const auto first = static_cast<std::size_t>(n * layer.in + k);
      const std::span<const float> group(matrix.data() + first, static_cast<std::size_t>(std::min(r.block, layer.in - k)));
      const std::uint8_t code = scale_code(form.fp4, largest_of(group), r.global);
      const float scale = scale_value(form.fp4, code) / r.global;
      r.scale_codes.push_back(code), r.scales.push_back(scale);
      for (std::size_t i = 0; i < group.size(); ++i) r.values[first + i] = scale > 0 ? nearest_e2m1(group[i] / scale) : 0;
    }
  return r;
}

NarrowSource fp4_weights(const NarrowForm& form) { return std::make_shared<RoundToFp4>(form); }

}  // namespace tenfold::transformers
