// AWQ, as AutoAWQ saves it for its product of matrices (version "gemm"): `qweight` [in, out / 8] has eight outputs of an input in a word,
// in the order 0, 2, 4, 6, 1, 3, 5, 7 from the lowest bits on; so has `qzeros` [groups, out / 8]; `scales` is [groups, out].
#include <algorithm>
#include <array>
#include <cctype>

#include "text/fail.h"
#include "text/transformers/narrow/narrow_weights.h"

namespace tenfold::transformers {
namespace {

using tokenizing::Json;

constexpr std::array<int, 8> kOrder{0, 2, 4, 6, 1, 3, 5, 7};

class Awq final : public NarrowWeights {
 public:
  explicit Awq(const Json& config) {
    const std::int64_t bits = config.number("bits", 1, 64), group = config.number("group_size", -1, 1 << 30);
    if (bits != 4)
      tokenizing::fail(ErrorKind::unsupported, config.where + ": AWQ's weights of " + std::to_string(bits) + " bits are not read; 4 are");
    std::string version = config.has("version") ? config.text("version") : "gemm";
    std::transform(version.begin(), version.end(), version.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (version != "gemm")
      tokenizing::fail(ErrorKind::unsupported, config.where + ".version: '" + version + "' is not read; gemm is. Save the model so");
    form_ = {.bits = 4, .group = std::max<std::int64_t>(group, 0)};
  }
  std::string text() const override { return "awq " + form_.text(); }

  std::optional<NarrowMatrix> take(const Weights& weights, const LinearLayer& layer) const override {
    if (!weights.has(layer.name + ".qweight")) return std::nullopt;
    const std::int64_t in = layer.in, out = layer.out, block = form_.block(in), words = out / 8;
    check_group(block, in, layer.name);
    if (out % 8 != 0)
      tokenizing::fail(ErrorKind::invalid_model, layer.name + ": " + std::to_string(out) + " outputs do not fill words of 8");
    weights.integers_shape(layer.name + ".qweight", {in, words}, DType::i32);   // before there is memory for it
    NarrowMaker maker(4, in, out, block);
    const auto each = [&](const Tensor& from, std::int64_t rows, auto&& set) {
      const auto* const word = from.data<std::uint32_t>();
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t i = 0; i < words; ++i)
          for (int j = 0; j < 8; ++j)
            set(row, i * 8 + kOrder[static_cast<std::size_t>(j)], word[row * words + i] >> (4 * j) & 15u);
    };
    each(weights.take_integers(layer.name + ".qweight", {in, words}, DType::i32), in,
         [&](std::int64_t k, std::int64_t n, std::uint32_t value) { maker.set(k, n, value); });
    each(weights.take_integers(layer.name + ".qzeros", {maker.blocks(), words}, DType::i32), maker.blocks(),
         [&](std::int64_t b, std::int64_t n, std::uint32_t zero) { maker.set_zero(b, n, zero); });
    const Tensor scales = weights.take_alone(layer.name + ".scales", {maker.blocks(), out});
    std::vector<float> row(static_cast<std::size_t>(out));
    for (std::int64_t b = 0; b < maker.blocks(); ++b) {
      read_floats(scales, b * out, 1, out, row.data());
      for (std::int64_t n = 0; n < out; ++n) maker.set_scale(b, n, row[static_cast<std::size_t>(n)]);
    }
    return maker.take();
  }

 private:
  NarrowForm form_;
};

}  // namespace

NarrowSource awq_weights(const Json& config) { return std::make_shared<Awq>(config); }

}  // namespace tenfold::transformers
