// The layout of AutoGPTQ and GPTQModel, version 1: gptq.cpp reads it. Scales are f16, as their kernels have them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/transformers/narrow/layouts.h"
#include "text/transformers/narrow/write_floats.h"

namespace tenfold::transformers {

Tensor scales_tensor(const RoundedMatrix& m, bool by_input) {
  Tensor scales(m.scale_type, by_input ? Shape{m.blocks(), m.out} : Shape{m.out, m.blocks()});
  for (std::int64_t n = 0; n < m.out; ++n)
    for (std::int64_t b = 0; b < m.blocks(); ++b) {
      const std::uint32_t bits = bits_of(m.scales[static_cast<std::size_t>(n * m.blocks() + b)], m.scale_type);
      const std::int64_t at = by_input ? b * m.out + n : n * m.blocks() + b;
      if (m.scale_type == DType::f32)
        scales.mutable_data<std::uint32_t>()[at] = bits;
      else
        scales.mutable_data<std::uint16_t>()[at] = static_cast<std::uint16_t>(bits);
    }
  return scales;
}

namespace {

class GptqLayout final : public NarrowLayout {
 public:
  std::vector<NarrowPart> parts(const LinearLayer& layer, const NarrowForm& form, DType) const override {
    const std::int64_t of_word = 32 / form.bits, blocks = layer.in / form.block(layer.in);
    return {{".g_idx", DType::i32, {layer.in}},
            {".qweight", DType::i32, {layer.in / of_word, layer.out}},
            {".qzeros", DType::i32, {blocks, layer.out / of_word}},
            {".scales", DType::f16, {blocks, layer.out}}};
  }

  std::vector<Tensor> packed(const RoundedMatrix& m) const override {
    const std::int64_t of_word = 32 / m.bits;
    Tensor groups(DType::i32, {m.in}), words(DType::i32, {m.in / of_word, m.out}), zeros(DType::i32, {m.blocks(), m.out / of_word});
    for (std::int64_t k = 0; k < m.in; ++k) groups.mutable_data<std::int32_t>()[k] = static_cast<std::int32_t>(k / m.block);
    auto* const word = words.mutable_data<std::uint32_t>();
    for (std::int64_t k = 0; k < m.in; ++k)
      for (std::int64_t n = 0; n < m.out; ++n)
        word[k / of_word * m.out + n] |= std::uint32_t{m.values[static_cast<std::size_t>(n * m.in + k)]} << (k % of_word * m.bits);
    const std::uint32_t all = m.bits == 4 ? 0x77777777u : 0x7f7f7f7fu;   // half of the range, less one
    std::fill_n(zeros.mutable_data<std::uint32_t>(), zeros.size(), all);
    return {groups, words, zeros, scales_tensor(m, true)};
  }

  DType scale_type(DType) const override { return DType::f16; }

  nlohmann::json quantization_config(const NarrowForm& form) const override {
    return {{"quant_method", "gptq"},
            {"bits", form.bits},
            {"group_size", form.group > 0 ? form.group : -1},
            {"sym", true},
            {"desc_act", false},
            {"lm_head", false},
            {"checkpoint_format", "gptq"}};
  }
};

}  // namespace

const NarrowLayout& gptq_layout() {
  static const GptqLayout layout;
  return layout;
}

}  // namespace tenfold::transformers
