// ModernBERT: norms in front of attention and products, places by rotation, gated products, and layers that look at their neighbors alone.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "text/encoders/architecture.h"
#include "text/fail.h"

namespace tenfold::encoders {
namespace {

using tokenizing::Json;

struct Sizes {
  std::int64_t width, heads, wide, places;
  float epsilon;
  bool norm_bias, attention_bias, mlp_bias;
};

Sizes sizes_of(const Texts& t) {
  const auto epsilon = t.config.value.find("norm_eps");
  const Sizes s{.width = field(t, "hidden_size"),
                .heads = field(t, "num_attention_heads"),
                .wide = field(t, "intermediate_size"),
                .places = field(t, "max_position_embeddings"),
                .epsilon = epsilon != t.config.value.end() && epsilon->is_number() ? epsilon->get<float>() : 1e-5f,
                .norm_bias = t.config.flag("norm_bias", false),
                .attention_bias = t.config.flag("attention_bias", false),
                .mlp_bias = t.config.flag("mlp_bias", false)};
  if (s.width % (2 * s.heads) != 0) t.config.wrong("hidden_size is no multiple of twice num_attention_heads");
  return s;
}

std::string function_of(const Json& config, const char* key) { return config.has(key) ? config.text(key) : "gelu"; }

// Whether a layer looks at all tokens: by the list of newer folders, else each third.
bool is_global(const Json& config, std::int64_t layer) {
  if (!config.has("layer_types")) return layer % config.number("global_attn_every_n_layers", 1, 1 << 16, 3) == 0;
  const nlohmann::json& types = config.at("layer_types").value;
  if (!types.is_array() || static_cast<std::size_t>(layer) >= types.size() || !types[static_cast<std::size_t>(layer)].is_string())
    config.wrong("layer_types does not name the type of layer " + std::to_string(layer));
  const std::string type = types[static_cast<std::size_t>(layer)].get<std::string>();
  if (type != "full_attention" && type != "sliding_attention")
    config.wrong("the layer type '" + type + "' is neither full_attention nor sliding_attention");
  return type == "full_attention";
}

// The base of the angles: of newer folders by the type of the layer, of older ones in a field of its own.
double theta(const Json& config, bool global) {
  const char* type = global ? "full_attention" : "sliding_attention";
  if (config.has("rope_parameters") && config.at("rope_parameters").has(type)) {
    const Json rope = config.at("rope_parameters").at(type);
    if (rope.has("rope_type") && rope.text("rope_type") != "default")
      rope.wrong("the rope_type '" + rope.text("rope_type") + "' is not supported, only default is");
    if (const auto at = rope.value.find("rope_theta"); at != rope.value.end() && at->is_number()) return at->get<double>();
  }
  const auto own = config.value.find(global ? "global_rope_theta" : "local_rope_theta");
  if (own == config.value.end()) return global ? 160000.0 : 10000.0;
  if (own->is_number()) return own->get<double>();
  if (global) config.wrong("global_rope_theta is no number");
  return theta(config, true);   // null: that of the other layers
}

// Cosines and sines of the places of a text, f32[tokens, size / 2].
struct Turns {
  NetworkTensor cosines, sines;
};

Turns turns(const Texts& t, const Sizes& s, double base) {
  const Blocks& b = t.blocks;
  const std::int64_t half = s.width / s.heads / 2;
  Tensor cosines(DType::f32, {s.places, half}), sines(DType::f32, {s.places, half});
  for (std::int64_t i = 0; i < half; ++i) {
    const float step = 1.0f / std::pow(static_cast<float>(base), static_cast<float>(2 * i) / static_cast<float>(2 * half));
    for (std::int64_t place = 0; place < s.places; ++place) {
      const float angle = static_cast<float>(place) * step;   // rounded as the reference rounds it
      cosines.mutable_data<float>()[place * half + i] = std::cos(angle), sines.mutable_data<float>()[place * half + i] = std::sin(angle);
    }
  }
  const NetworkTensor length = b.length(t.ids);
  return {b.rows(b.net.constant(std::move(cosines)), 0, length), b.rows(b.net.constant(std::move(sines)), 0, length)};
}

NetworkTensor turned(const Blocks& b, NetworkTensor x, const Turns& by, std::int64_t half) {
  const NetworkTensor first = b.columns(x, 0, half), second = b.columns(x, half, half);
  const auto times = [&](NetworkTensor part, NetworkTensor table) { return b.net.elementwise(Elementwise::prod, part, table); };
  return b.net.concatenation({b.net.elementwise(Elementwise::sub, times(first, by.cosines), times(second, by.sines)),
                              b.sum(times(second, by.cosines), times(first, by.sines))},
                             3);
}

// -inf for tokens that stand further than half of local_attention from each other, else 0: f32[1, 1, tokens, tokens].
NetworkTensor neighbors(const Texts& t) {
  const Blocks& b = t.blocks;
  Tensor max(DType::i32, {});
  *max.mutable_data<std::int32_t>() = static_cast<std::int32_t>(t.config.number("local_attention", 2, 1 << 24, 128) / 2);
  const NetworkTensor far = b.net.elementwise(Elementwise::greater, b.net.unary(Unary::abs, distances(t)), b.net.constant(max));
  const NetworkTensor bias = b.net.select(far, b.scalar(-std::numeric_limits<float>::infinity()), b.scalar(0));
  return b.net.add_node("Unsqueeze", {bias, b.integers({0, 1})})[0];
}

NetworkTensor attended(const Texts& t, const Sizes& s, const std::string& name, NetworkTensor x, const Turns& by, NetworkTensor bias) {
  const Blocks& b = t.blocks;
  const NetworkTensor all = b.linear(name + "Wqkv", x, s.width, 3 * s.width, s.attention_bias);
  const std::int64_t size = s.width / s.heads;
  const auto heads = [&](std::int64_t part) {
    return turned(b, b.by_head(b.columns(all, part * s.width, s.width), s.heads, size), by, size / 2);
  };
  const NetworkTensor mixed = b.attention_of_heads(heads(0), heads(1), b.columns(all, 2 * s.width, s.width), s.heads, s.width, bias);
  return b.linear(name + "Wo", mixed, s.width, s.width, s.attention_bias);
}

NetworkTensor fed(const Texts& t, const Sizes& s, const std::string& name, NetworkTensor x) {
  const Blocks& b = t.blocks;
  const NetworkTensor both = b.linear(name + "Wi", x, s.width, 2 * s.wide, s.mlp_bias);
  const NetworkTensor wide = b.activation(function_of(t.config, "hidden_activation"), b.columns(both, 0, s.wide));
  return b.linear(name + "Wo", b.net.elementwise(Elementwise::prod, wide, b.columns(both, s.wide, s.wide)), s.wide, s.width, s.mlp_bias);
}

NetworkTensor tokens(const Texts& t) {
  const Blocks& b = t.blocks;
  const Sizes s = sizes_of(t);
  const auto norm = [&](const std::string& name, NetworkTensor x) { return b.layer_norm(name, x, s.width, s.epsilon, s.norm_bias); };
  const Turns far = turns(t, s, theta(t.config, true)), near = turns(t, s, theta(t.config, false));
  const NetworkTensor bias = neighbors(t);
  NetworkTensor x = norm(t.prefix + "embeddings.norm", b.net.gather(b.weight(t.table, {field(t, "vocab_size"), s.width}), t.ids));
  for (std::int64_t i = 0; i < field(t, "num_hidden_layers"); ++i) {
    const std::string layer = t.prefix + "layers." + std::to_string(i) + ".";
    const bool global = is_global(t.config, i);
    const NetworkTensor given = i == 0 ? x : norm(layer + "attn_norm", x);
    x = b.sum(x, attended(t, s, layer + "attn.", given, global ? far : near, global ? NetworkTensor() : bias));
    x = b.sum(x, fed(t, s, layer + "mlp.", norm(layer + "mlp_norm", x)));
  }
  return norm(t.prefix + "final_norm", x);
}

bool head_takes_mean(const Json& config) {
  const std::string pooling = config.has("classifier_pooling") ? config.text("classifier_pooling") : "cls";
  if (pooling != "cls" && pooling != "mean") config.wrong("classifier_pooling is '" + pooling + "', which is neither cls nor mean");
  return pooling == "mean";
}

NetworkTensor head(const Texts& t, NetworkTensor x) {
  const Blocks& b = t.blocks;
  const Sizes s = sizes_of(t);
  const std::int64_t labels = b.weights.shape("classifier.weight", {-1, s.width})[0];
  const NetworkTensor dense = b.linear("head.dense", x, s.width, s.width, t.config.flag("classifier_bias", false));
  const NetworkTensor active = b.activation(function_of(t.config, "classifier_activation"), dense);
  return b.linear("classifier", b.layer_norm("head.norm", active, s.width, s.epsilon, s.norm_bias), s.width, labels);
}

}  // namespace

Architecture modernbert() {
  return {.model_types = {"modernbert"},
          .prefix = "model.",
          .tables = {"embeddings.tok_embeddings.weight"},
          .tokens = tokens,
          .head = head,
          .head_takes_mean = head_takes_mean};
}

}  // namespace tenfold::encoders
