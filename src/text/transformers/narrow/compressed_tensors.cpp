// compressed-tensors, as llm-compressor saves it. pack-quantized: `weight_packed` [out, words] has the inputs of an output one behind the
// other, lowest bits first, each plus half of its range; `weight_shape` is [out, in]; zero points are packed along the outputs.
// int-quantized: `weight` is i8[out, in]. `weight_scale` is [out, groups], `weight_zero_point` likewise, `weight_g_idx` each input's group.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/fail.h"
#include "text/transformers/narrow/rounded_matrix.h"

namespace tenfold::transformers {
namespace {

using tokenizing::fail;
using tokenizing::Json;

constexpr std::int64_t kTile = 64;   // outputs that are read side by side, as they are written

std::int64_t words_for(std::int64_t values, int bits) { return (values * bits + 31) / 32; }

class CompressedTensors final : public NarrowWeights {
 public:
  explicit CompressedTensors(const Json& config) {
    const std::string format = config.has("format") ? config.text("format") : "";
    for (const Fp4 kind : {Fp4::mxfp4, Fp4::nvfp4})
      if (format == std::string(name(kind)) + "-pack-quantized") fp4_ = kind;
    if (format != "pack-quantized" && format != "int-quantized" && fp4_ == Fp4::none)
      fail(ErrorKind::unsupported, config.where + ".format: '" + format +
                                       "' of compressed-tensors is not read; pack-quantized, "
                                       "int-quantized, nvfp4-pack-quantized and mxfp4-pack-quantized are. Take the folder of the model in "
                                       "floats, or save it in one of them");
    for (const char* field : {"sparsity_config", "transform_config"})
      if (is_used(config, field))
        fail(ErrorKind::unsupported, config.where + "." + field + " is not read; save the model without it");
    const Json groups = config.at("config_groups");
    for (const auto& [name, group] : groups.value.items()) {
      const Json one{group, groups.where + "." + name};
      const Json weights = one.at("weights");
      const std::int64_t bits = weights.number("num_bits", 1, 64);
      const std::string type = weights.has("type") ? weights.text("type") : "int";
      const bool is_fp4 = fp4_ != Fp4::none;
      if (type != (is_fp4 ? "float" : "int") || (bits != 4 && (bits != 8 || is_fp4)))
        fail(ErrorKind::unsupported, weights.where + ": weights of " + std::to_string(bits) + " bits (" + type + ") are not read; " +
                                         (is_fp4 ? "in " + format + " floats of 4 are" : "integers of 4 and 8 are"));
      if (fp4_ != Fp4::none) {
        if (const std::int64_t group = weights.number("group_size", -1, 1 << 30, block_of(fp4_)); group != block_of(fp4_))
          fail(ErrorKind::unsupported, weights.where + ": groups of " + std::to_string(group) + " share a scale; in " + format + " " +
                                           std::to_string(block_of(fp4_)) + " do");
        text_ = transformers::name(fp4_);
        continue;
      }
      text_ += (text_.empty() ? "" : ", ") +
               NarrowForm{.bits = static_cast<int>(bits), .group = std::max<std::int64_t>(weights.number("group_size", -1, 1 << 30, 0), 0)}
                   .text();
    }
  }
  static bool is_used(const Json& config, const char* field) {
    if (!config.has(field)) return false;
    const Json one = config.at(field);
    return !one.value.empty() && !(one.has("format") && one.text("format") == "dense");
  }
  std::string text() const override { return "compressed-tensors " + text_; }

  std::optional<NarrowMatrix> take(const Weights& weights, const LinearLayer& layer) const override {
    const bool packed = weights.has(layer.name + ".weight_packed");
    if (!packed && !weights.has(layer.name + ".weight_scale")) return std::nullopt;
    if (fp4_ != Fp4::none) return compressed_fp4(weights, layer, fp4_);
    const int bits = packed ? packed_bits(weights, layer) : 8;
    const Tensor scales = scales_of(weights, layer);
    const std::int64_t blocks = scales.shape()[1], block = blocks > 0 ? (layer.in + blocks - 1) / blocks : 0;
    check_group(block, layer.in, layer.name);
    if (blocks < 1 || (layer.in + block - 1) / block != blocks || (blocks > 1 && layer.in % block != 0))
      fail(ErrorKind::invalid_model, layer.name + ": " + std::to_string(blocks) + " groups do not divide " + std::to_string(layer.in) +
                                         " inputs");
    const std::vector<std::int64_t> order = groups_of(weights, layer, block);
    NarrowMaker maker(bits, layer.in, layer.out, block);
    if (packed)
      take_packed(weights.take_integers(layer.name + ".weight_packed", {layer.out, words_for(layer.in, bits)}, DType::i32), order, bits,
                  layer, maker);
    else
      take_bytes(weights.take_integers(layer.name + ".weight", {layer.out, layer.in}, DType::i8), order, layer, maker);
    take_scales(scales, layer.out, maker);
    take_zeros(weights, layer, bits, maker);
    NarrowMatrix matrix = maker.take();
    matrix.order = order;
    return matrix;
  }

 private:
  static int packed_bits(const Weights& weights, const LinearLayer& layer) {
    const Tensor shape = weights.take_integers(layer.name + ".weight_shape", {2}, DType::i64);
    const auto* const extents = shape.data<std::int64_t>();
    if (extents[0] != layer.out || extents[1] != layer.in)
      fail(ErrorKind::invalid_model, "the tensor '" + layer.name + ".weight_shape' says " + std::to_string(extents[0]) + "x" +
                                         std::to_string(extents[1]) + ", but by config.json its shape is " + std::to_string(layer.out) +
                                         "x" + std::to_string(layer.in) + "; config.json and the weights are of different models");
    const std::int64_t words = weights.integers_shape(layer.name + ".weight_packed", {layer.out, -1}, DType::i32)[1];
    for (const int bits : {4, 8})
      if (words == words_for(layer.in, bits)) return bits;
    fail(ErrorKind::unsupported, "the tensor '" + layer.name + ".weight_packed' has rows of " + std::to_string(words) + " words for " +
                                     std::to_string(layer.in) + " weights; rows of 4 or 8 bits each are read");
  }

  // [out, groups], also where a matrix has one for all.
  static Tensor scales_of(const Weights& weights, const LinearLayer& layer) {
    const std::string name = layer.name + ".weight_scale";
    const Tensor scales = weights.take_any(name);
    if (scales.size() == 1 && layer.out > 1) {
      Tensor all(DType::f32, {layer.out, 1});
      read_floats(scales, 0, 0, layer.out, all.mutable_data<float>());
      return all;
    }
    return weights.take_alone(name, {layer.out, -1});
  }

  // By input; -1 stands where no order was made.
  static std::vector<std::int64_t> groups_of(const Weights& weights, const LinearLayer& layer, std::int64_t block) {
    const std::string name = layer.name + ".weight_g_idx";
    if (!weights.has(name)) return {};
    const Tensor groups = weights.take_integers(name, {layer.in}, DType::i32);
    const auto* const group = groups.data<std::int32_t>();
    if (std::count(group, group + groups.size(), -1)) return {};
    return order_of(groups, block, name);
  }

  // act(input's row, output) for all of them, a few outputs at a time.
  template <class Act>
  static void each(const LinearLayer& layer, const std::vector<std::int64_t>& order, Act&& act) {
    for (std::int64_t first = 0; first < layer.out; first += kTile)
      for (std::int64_t row = 0; row < layer.in; ++row) {
        const std::int64_t k = order.empty() ? row : order[static_cast<std::size_t>(row)];
        for (std::int64_t n = first; n < std::min(first + kTile, layer.out); ++n) act(row, k, n);
      }
  }
  static void take_packed(const Tensor& words, const std::vector<std::int64_t>& order, int bits, const LinearLayer& layer,
                          NarrowMaker& maker) {
    const std::int64_t of_row = words.shape()[1], of_word = 32 / bits;
    const auto* const word = words.data<std::uint32_t>();
    each(layer, order, [&](std::int64_t row, std::int64_t k, std::int64_t n) {
      maker.set(row, n, word[n * of_row + k / of_word] >> (k % of_word * bits) & (bits == 4 ? 15u : 255u));
    });
  }
  static void take_bytes(const Tensor& bytes, const std::vector<std::int64_t>& order, const LinearLayer& layer, NarrowMaker& maker) {
    const auto* const byte = bytes.data<std::uint8_t>();
    each(layer, order,
         [&](std::int64_t row, std::int64_t k, std::int64_t n) { maker.set(row, n, byte[n * layer.in + k] ^ 0x80u); });
  }

  static void take_scales(const Tensor& scales, std::int64_t out, NarrowMaker& maker) {
    std::vector<float> row(static_cast<std::size_t>(maker.blocks()));
    for (std::int64_t n = 0; n < out; ++n) {
      read_floats(scales, n * maker.blocks(), 1, maker.blocks(), row.data());
      for (std::int64_t b = 0; b < maker.blocks(); ++b) maker.set_scale(b, n, row[static_cast<std::size_t>(b)]);
    }
  }

  // Packed along the outputs, or as bytes.
  static void take_zeros(const Weights& weights, const LinearLayer& layer, int bits, NarrowMaker& maker) {
    const std::string name = layer.name + ".weight_zero_point";
    if (!weights.has(name)) return;
    const std::int64_t blocks = maker.blocks(), of_word = 32 / bits;
    if (weights.take_any(name).dtype() == DType::i32) {
      const Tensor words = weights.take_integers(name, {words_for(layer.out, bits), blocks}, DType::i32);
      const auto* const word = words.data<std::uint32_t>();
      for (std::int64_t n = 0; n < layer.out; ++n)
        for (std::int64_t b = 0; b < blocks; ++b)
          maker.set_zero(b, n, word[n / of_word * blocks + b] >> (n % of_word * bits) & (bits == 4 ? 15u : 255u));
      return;
    }
    const Tensor bytes = weights.take_integers(name, {layer.out, blocks}, DType::i8);
    const auto* const byte = bytes.data<std::int8_t>();
    for (std::int64_t n = 0; n < layer.out; ++n)
      for (std::int64_t b = 0; b < blocks; ++b) {
        const int zero = byte[n * blocks + b] + (1 << (bits - 1));
        if (zero < 0 || zero >= 1 << bits)
          fail(ErrorKind::invalid_model, "the tensor '" + name + "' has a zero point of " + std::to_string(byte[n * blocks + b]) +
                                             ", which no weight of " + std::to_string(bits) + " bits is");
        maker.set_zero(b, n, static_cast<std::uint32_t>(zero));
      }
  }

  std::string text_;
  Fp4 fp4_ = Fp4::none;
};

}  // namespace

NarrowSource compressed_tensors_weights(const Json& config) { return std::make_shared<CompressedTensors>(config); }

}  // namespace tenfold::transformers
