// GPTQ, as AutoGPTQ and GPTQModel save it: `qweight` has 32 / bits inputs of an output in a word, lowest bits first, [in / 8, out];
// `qzeros` so many outputs, [groups, out / 8], of zero points less one (version 1); `scales` is [groups, out], `g_idx` each input's group.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/fail.h"
#include "text/transformers/narrow/narrow_weights.h"

namespace tenfold::transformers {
namespace {

using tokenizing::Json;

class Gptq final : public NarrowWeights {
 public:
  explicit Gptq(const Json& config) {
    const std::int64_t bits = config.number("bits", 1, 64), group = config.number("group_size", -1, 1 << 30);
    if (bits != 4 && bits != 8)
      tokenizing::fail(ErrorKind::unsupported, config.where + ": GPTQ's weights of " + std::to_string(bits) +
                                                   " bits are not read; 4 and 8 are");
    form_ = {.bits = static_cast<int>(bits), .group = std::max<std::int64_t>(group, 0)};
    const std::string format = config.has("checkpoint_format") ? config.text("checkpoint_format") : "gptq";
    if (format != "gptq" && format != "gptq_v2")
      tokenizing::fail(ErrorKind::unsupported, config.where + ".checkpoint_format: '" + format + "' is not read; gptq and gptq_v2 are. "
                                               "Save the model in one of them");
    if (config.has("dynamic") && !config.at("dynamic").value.empty())
      tokenizing::fail(ErrorKind::unsupported, config.where + ".dynamic: layers with bits or groups of their own are not read");
    first_ = format == "gptq" ? 1 : 0;
  }
  std::string text() const override { return "gptq " + form_.text(); }

  std::optional<NarrowMatrix> take(const Weights& weights, const LinearLayer& layer) const override {
    if (!weights.has(layer.name + ".qweight")) return std::nullopt;
    const std::int64_t of_word = 32 / form_.bits, in = layer.in, out = layer.out, block = form_.block(in);
    check_group(block, in, layer.name);
    if (in % of_word != 0 || out % of_word != 0)
      tokenizing::fail(ErrorKind::invalid_model, layer.name + ": " + std::to_string(in) + " inputs and " + std::to_string(out) +
                                                     " outputs do not fill words of " + std::to_string(of_word) + " each");
    weights.integers_shape(layer.name + ".qweight", {in / of_word, out}, DType::i32);   // before there is memory for it
    NarrowMaker maker(form_.bits, in, out, block);
    const std::vector<std::int64_t> order =
        weights.has(layer.name + ".g_idx") ? order_of(weights.take_integers(layer.name + ".g_idx", {in}, DType::i32), block,
                                                      layer.name + ".g_idx")
                                           : std::vector<std::int64_t>{};
    take_values(weights.take_integers(layer.name + ".qweight", {in / of_word, out}, DType::i32), order, layer, maker);
    take_zeros(weights.take_integers(layer.name + ".qzeros", {maker.blocks(), out / of_word}, DType::i32), layer, maker);
    take_scales(weights.take_alone(layer.name + ".scales", {maker.blocks(), out}), maker, out);
    NarrowMatrix matrix = maker.take();
    matrix.order = order;
    return matrix;
  }

 private:
  std::uint32_t mask() const { return form_.bits == 4 ? 15u : 255u; }

  void take_values(const Tensor& words, const std::vector<std::int64_t>& order, const LinearLayer& layer, NarrowMaker& maker) const {
    std::vector<std::int64_t> place(order.size());   // of an input's row
    for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    const auto* const word = words.data<std::uint32_t>();
    for (std::int64_t k = 0; k < layer.in; ++k) {
      const std::int64_t of_word = 32 / form_.bits, row = k / of_word * layer.out, shift = k % of_word * form_.bits;
      const std::int64_t to = place.empty() ? k : place[static_cast<std::size_t>(k)];
      for (std::int64_t n = 0; n < layer.out; ++n) maker.set(to, n, word[row + n] >> shift & mask());
    }
  }

  // The sum has as many bits as a value: who stored the zero point 0 less one stored all ones.
  void take_zeros(const Tensor& words, const LinearLayer& layer, NarrowMaker& maker) const {
    const std::int64_t of_word = 32 / form_.bits;
    const auto* const word = words.data<std::uint32_t>();
    for (std::int64_t b = 0; b < maker.blocks(); ++b)
      for (std::int64_t n = 0; n < layer.out; ++n)
        maker.set_zero(b, n, ((word[(b * layer.out + n) / of_word] >> (n % of_word * form_.bits)) + first_) & mask());
  }

  static void take_scales(const Tensor& scales, NarrowMaker& maker, std::int64_t out) {
    std::vector<float> all(static_cast<std::size_t>(scales.size()));
    read_floats(scales, 0, 1, scales.size(), all.data());
    for (std::int64_t i = 0; i < scales.size(); ++i) maker.set_scale(i / out, i % out, all[static_cast<std::size_t>(i)]);
  }

  NarrowForm form_;
  std::uint32_t first_ = 1;
};

}  // namespace

NarrowSource gptq_weights(const Json& config) { return std::make_shared<Gptq>(config); }

}  // namespace tenfold::transformers
