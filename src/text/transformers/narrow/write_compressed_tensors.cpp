// pack-quantized of compressed-tensors: compressed_tensors.cpp reads it.
#include <nlohmann/json.hpp>

#include "text/transformers/narrow/layouts.h"

namespace tenfold::transformers {
namespace {

std::int64_t words_of(std::int64_t in, int bits) { return (in * bits + 31) / 32; }

class Compressed final : public NarrowLayout {
 public:
  std::vector<NarrowPart> parts(const LinearLayer& layer, const NarrowForm& form, DType floats) const override {
    return {{".weight_packed", DType::i32, {layer.out, words_of(layer.in, form.bits)}},
            {".weight_scale", floats, {layer.out, layer.in / form.block(layer.in)}},
            {".weight_shape", DType::i64, {2}}};
  }

  std::vector<Tensor> packed(const RoundedMatrix& m) const override {
    const std::int64_t of_word = 32 / m.bits, row_words = words_of(m.in, m.bits);
    Tensor words(DType::i32, {m.out, row_words}), shape(DType::i64, {2});
    auto* const word = words.mutable_data<std::uint32_t>();
    for (std::int64_t n = 0; n < m.out; ++n)
      for (std::int64_t k = 0; k < m.in; ++k)
        word[n * row_words + k / of_word] |= std::uint32_t{m.values[static_cast<std::size_t>(n * m.in + k)]} << (k % of_word * m.bits);
    shape.mutable_data<std::int64_t>()[0] = m.out, shape.mutable_data<std::int64_t>()[1] = m.in;
    return {words, scales_tensor(m, false), shape};
  }

  DType scale_type(DType floats) const override { return floats; }

  nlohmann::json quantization_config(const NarrowForm& form) const override {
    const bool groups = form.group > 0;
    const nlohmann::json weights{{"num_bits", form.bits},
                                 {"type", "int"},
                                 {"symmetric", true},
                                 {"strategy", groups ? "group" : "channel"},
                                 {"group_size", groups ? nlohmann::json(form.group) : nlohmann::json()},
                                 {"dynamic", false},
                                 {"observer", "minmax"}};
    return {{"quant_method", "compressed-tensors"},
            {"format", "pack-quantized"},
            {"quantization_status", "compressed"},
            {"ignore", {"lm_head"}},
            {"config_groups",
             {{"group_0",
               {{"targets", {"Linear"}}, {"weights", weights}, {"input_activations", nullptr}, {"output_activations", nullptr}}}}}};
  }
};

}  // namespace

const NarrowLayout& compressed_layout() {
  static const Compressed layout;
  return layout;
}

}  // namespace tenfold::transformers
