// pack-quantized of compressed-tensors, which compressed_tensors.cpp reads, and its forms for fp4, which compressed_fp4.cpp does.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/transformers/narrow/layouts.h"

namespace tenfold::transformers {
namespace {

std::int64_t words_of(std::int64_t in, int bits) { return (in * bits + 31) / 32; }

std::vector<NarrowPart> fp4_parts(const LinearLayer& layer, Fp4 kind) {
  const Shape scales{layer.out, layer.in / block_of(kind)};
  std::vector<NarrowPart> parts{{".weight_packed", DType::u8, {layer.out, layer.in / 2}},
                                {".weight_scale", kind == Fp4::nvfp4 ? DType::f8e4m3fn : DType::u8, scales}};
  if (kind == Fp4::nvfp4) parts.push_back({".weight_global_scale", DType::f32, {1}});
  return parts;
}

std::vector<Tensor> fp4_packed(const RoundedMatrix& m) {
  std::vector<Tensor> tensors;
  for (const NarrowPart& part : fp4_parts({.name = "", .in = m.in, .out = m.out}, m.fp4)) tensors.emplace_back(part.type, part.shape);
  auto* const byte = tensors[0].mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < m.values.size(); i += 2) byte[i / 2] = static_cast<std::uint8_t>(m.values[i] | m.values[i + 1] << 4);
  std::copy(m.scale_codes.begin(), m.scale_codes.end(), tensors[1].mutable_data<std::uint8_t>());
  if (m.fp4 == Fp4::nvfp4) *tensors[2].mutable_data<float>() = m.global;
  return tensors;
}

class Compressed final : public NarrowLayout {
 public:
  std::vector<NarrowPart> parts(const LinearLayer& layer, const NarrowForm& form, DType floats) const override {
    if (form.fp4 != Fp4::none) return fp4_parts(layer, form.fp4);
    return {{".weight_packed", DType::i32, {layer.out, words_of(layer.in, form.bits)}},
            {".weight_scale", floats, {layer.out, layer.in / form.block(layer.in)}},
            {".weight_shape", DType::i64, {2}}};
  }

  std::vector<Tensor> packed(const RoundedMatrix& m) const override {
    if (m.fp4 != Fp4::none) return fp4_packed(m);
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
    const bool groups = form.group > 0, is_float = form.fp4 != Fp4::none;
    const nlohmann::json weights{{"num_bits", form.bits},
                                 {"type", is_float ? "float" : "int"},
                                 {"symmetric", true},
                                 {"strategy", form.fp4 == Fp4::nvfp4 ? "tensor_group"
                                              : groups               ? "group"
                                                                     : "channel"},
                                 {"group_size", groups ? nlohmann::json(form.group) : nlohmann::json()},
                                 {"dynamic", false},
                                 {"observer", "minmax"}};
    return {
        {"quant_method", "compressed-tensors"},
        {"format", (is_float ? std::string(name(form.fp4)) + "-" : "") + "pack-quantized"},
        {"quantization_status", "compressed"},
        {"ignore", {"lm_head"}},
        {"config_groups",
         {{"group_0", {{"targets", {"Linear"}}, {"weights", weights}, {"input_activations", nullptr}, {"output_activations", nullptr}}}}}};
  }
};

}  // namespace

const NarrowLayout& compressed_layout() {
  static const Compressed layout;
  return layout;
}

}  // namespace tenfold::transformers
