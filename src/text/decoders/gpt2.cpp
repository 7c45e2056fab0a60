// GPT-2: learned positions, norms in front of attention and products, weights of products as [in, out].
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/decoders/architecture.h"

namespace tenfold::decoders {
namespace {

using tokenizing::Json;

struct Sizes {
  std::int64_t width, heads, wide, layers, places, vocabulary;
  float epsilon;
};

Sizes sizes_of(const Json& config) {
  constexpr std::int64_t kMax = 1 << 30;
  Sizes s{.width = config.number("n_embd", 1, kMax),
          .heads = config.number("n_head", 1, kMax),
          .wide = config.number("n_inner", 1, kMax, 0),
          .layers = config.number("n_layer", 1, 1 << 16),
          .places = config.number("n_positions", 1, kMax),
          .vocabulary = config.number("vocab_size", 1, kMax),
          .epsilon = static_cast<float>(config.real("layer_norm_epsilon", 1e-5))};
  if (s.width % s.heads != 0) config.wrong("n_embd is no multiple of n_head");
  if (s.wide == 0) s.wide = 4 * s.width;
  return s;
}

CacheSizes cache(const Json& config) {
  const Sizes s = sizes_of(config);
  return {.layers = s.layers, .heads = s.heads, .size = s.width / s.heads};
}

NetworkTensor product(const Blocks& b, const std::string& name, NetworkTensor x, std::int64_t in, std::int64_t out) {
  return b.sum(b.product(x, {.name = name, .in = in, .out = out, .by_input = true}), b.weight(name + ".bias", {out}));
}

NetworkTensor hidden(const Tokens& t) {
  const Blocks& b = t.blocks;
  const Sizes s = sizes_of(t.config);
  const std::int64_t size = s.width / s.heads;
  const std::string activation = t.config.has("activation_function") ? t.config.text("activation_function") : "gelu_new";
  const bool scaled = t.config.flag("scale_attn_weights", true), by_layer = t.config.flag("scale_attn_by_inverse_layer_idx", false);
  NetworkTensor x = b.sum(t.embedded(t.prefix + "wte.weight", s.vocabulary, s.width),
                          b.net.gather(b.weight(t.prefix + "wpe.weight", {s.places, s.width}), t.positions));
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const std::string layer = t.prefix + "h." + std::to_string(i) + ".";
    x = t.at_layer(i, x);
    const NetworkTensor given = b.layer_norm(layer + "ln_1", x, s.width, s.epsilon);
    const NetworkTensor all = product(b, layer + "attn.c_attn", given, s.width, 3 * s.width);
    const auto part = [&](std::int64_t at) { return b.by_head(b.columns(all, at * s.width, s.width), s.heads, size); };
    const float scale =
        (scaled ? 1 / std::sqrt(static_cast<float>(size)) : 1.0f) / (by_layer ? static_cast<float>(i + 1) : 1.0f);
    const NetworkTensor mixed = t.attention.attend(i, part(0), part(1), part(2), s.heads, scale);
    x = b.sum(x, product(b, layer + "attn.c_proj", mixed, s.width, s.width));
    const NetworkTensor wide =
        b.activation(activation, product(b, layer + "mlp.c_fc", b.layer_norm(layer + "ln_2", x, s.width, s.epsilon), s.width, s.wide));
    x = b.sum(x, product(b, layer + "mlp.c_proj", wide, s.wide, s.width));
  }
  return b.layer_norm(t.prefix + "ln_f", t.asked(x, s.width), s.width, s.epsilon);
}

// Not in front of mlp.c_proj: the activation between is no product with a factor.
std::vector<SharedChannels> shared_channels(const Json& config, std::int64_t i) {
  const Sizes s = sizes_of(config);
  const std::string layer = "h." + std::to_string(i) + ".";
  const auto norm = [&](const std::string& name) {
    return std::vector<SharedChannels::Source>{{layer + name + ".weight", 0, s.width}, {layer + name + ".bias", 0, s.width}};
  };
  return {{norm("ln_1"), {layer + "attn.c_attn"}},
          {{{layer + "attn.c_attn.weight", 2 * s.width, s.width}, {layer + "attn.c_attn.bias", 2 * s.width, s.width}},
           {layer + "attn.c_proj"}},
          {norm("ln_2"), {layer + "mlp.c_fc"}}};
}

}  // namespace

Architecture gpt2() {
  return {.model_types = {"gpt2"},
          .prefix = "transformer.",
          .table = "wte.weight",
          .places = "n_positions",
          .cache = cache,
          .hidden = hidden,
          .shared_channels = shared_channels};
}

}  // namespace tenfold::decoders
