// Llama and what is made like it: norms by the root of mean squares, positions by rotation, keys that heads share, gated products.
// Mistral has a window, Qwen2 biases of queries, keys and values, Qwen3 norms of queries and keys, Phi-3 products that are joined.
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/decoders/architecture.h"
#include "text/decoders/rotary.h"

namespace tenfold::decoders {
namespace {

using tokenizing::Json;

struct Sizes {
  std::int64_t width, heads, shared, size, wide, layers, places, vocabulary, window, turned;
  float epsilon;
  bool qkv_bias, out_bias, mlp_bias, norms_heads, joined;
  std::string activation;
};

std::int64_t window_of(const Json& config, const std::string& type) {
  if (type == "llama" || !config.has("sliding_window")) return 0;
  if (type.starts_with("qwen") && !config.flag("use_sliding_window", false)) return 0;
  if (type.starts_with("qwen"))
    config.wrong("windows of single layers (use_sliding_window) are not supported");
  return config.number("sliding_window", 1, 1 << 30);
}

Sizes sizes_of(const Json& config) {
  constexpr std::int64_t kMax = 1 << 30;
  const std::string type = config.text("model_type");
  const bool bias = config.flag("attention_bias", false);
  Sizes s{.width = config.number("hidden_size", 1, kMax),
          .heads = config.number("num_attention_heads", 1, 1 << 20),
          .shared = 0,
          .size = config.number("head_dim", 1, 1 << 20, 0),
          .wide = config.number("intermediate_size", 1, kMax),
          .layers = config.number("num_hidden_layers", 1, 1 << 16),
          .places = config.number("max_position_embeddings", 1, kMax),
          .vocabulary = config.number("vocab_size", 1, kMax),
          .window = window_of(config, type),
          .turned = 0,
          .epsilon = static_cast<float>(config.real("rms_norm_eps", 1e-6)),
          .qkv_bias = bias || type == "qwen2",
          .out_bias = bias && type != "qwen2",
          .mlp_bias = config.flag("mlp_bias", false),
          .norms_heads = type == "qwen3",
          .joined = type == "phi3",
          .activation = config.has("hidden_act") ? config.text("hidden_act") : "silu"};
  s.shared = config.number("num_key_value_heads", 1, s.heads, s.heads);
  if (s.heads % s.shared != 0) config.wrong("num_attention_heads is no multiple of num_key_value_heads");
  if (s.size == 0 && s.width % s.heads != 0) config.wrong("hidden_size is no multiple of num_attention_heads, and there is no head_dim");
  if (s.size == 0) s.size = s.width / s.heads;
  s.turned = static_cast<std::int64_t>(static_cast<double>(s.size) * config.real("partial_rotary_factor", 1.0));
  if (s.turned < 2 || s.turned > s.size || s.turned % 2 != 0)
    config.wrong("positions turn " + std::to_string(s.turned) + " of a head's " + std::to_string(s.size) +
                 " elements; an even number of them was expected");
  return s;
}

CacheSizes cache(const Json& config) {
  const Sizes s = sizes_of(config);
  return {.layers = s.layers, .heads = s.shared, .size = s.size};
}

struct Heads {
  NetworkTensor q, k, v;   // [batch, tokens, heads * size]
};
Heads project(const Blocks& b, const Sizes& s, const std::string& name, NetworkTensor x) {
  const std::int64_t queries = s.heads * s.size, keys = s.shared * s.size;
  if (!s.joined)
    return {b.linear(name + "q_proj", x, s.width, queries, s.qkv_bias), b.linear(name + "k_proj", x, s.width, keys, s.qkv_bias),
            b.linear(name + "v_proj", x, s.width, keys, s.qkv_bias)};
  const NetworkTensor all = b.linear(name + "qkv_proj", x, s.width, queries + 2 * keys, s.qkv_bias);
  return {b.columns(all, 0, queries), b.columns(all, queries, keys), b.columns(all, queries + keys, keys)};
}

NetworkTensor attended(const Tokens& t, const Sizes& s, const Rotary& rotary, std::int64_t layer, const std::string& name,
                       NetworkTensor x) {
  const Blocks& b = t.blocks;
  const Heads h = project(b, s, name, x);
  const auto turned = [&](NetworkTensor rows, std::int64_t heads, const char* norm) {
    NetworkTensor by_head = b.net.shuffle(rows, {}, Shape{0, 0, heads, s.size});
    if (s.norms_heads) by_head = b.rms_norm(name + norm, by_head, s.size, s.epsilon);
    return rotary(b.net.shuffle(by_head, {0, 2, 1, 3}), t.positions);
  };
  const NetworkTensor mixed =
      t.attention.attend(layer, turned(h.q, s.heads, "q_norm"), turned(h.k, s.shared, "k_norm"), b.by_head(h.v, s.shared, s.size),
                         s.heads, 1 / std::sqrt(static_cast<float>(s.size)), s.window);
  return b.linear(name + "o_proj", mixed, s.heads * s.size, s.width, s.out_bias);
}

NetworkTensor fed(const Blocks& b, const Sizes& s, const std::string& name, NetworkTensor x) {
  NetworkTensor gate, up;
  if (s.joined) {
    const NetworkTensor both = b.linear(name + "gate_up_proj", x, s.width, 2 * s.wide, false);
    gate = b.columns(both, 0, s.wide), up = b.columns(both, s.wide, s.wide);
  } else {
    gate = b.linear(name + "gate_proj", x, s.width, s.wide, s.mlp_bias), up = b.linear(name + "up_proj", x, s.width, s.wide, s.mlp_bias);
  }
  return b.linear(name + "down_proj", b.net.elementwise(Elementwise::prod, b.activation(s.activation, gate), up), s.wide, s.width,
                  s.mlp_bias);
}

NetworkTensor hidden(const Tokens& t) {
  const Blocks& b = t.blocks;
  const Sizes s = sizes_of(t.config);
  const Rotary rotary(b, t.config, t.attention.capacity(), s.turned);
  NetworkTensor x = t.embedded(t.prefix + "embed_tokens.weight", s.vocabulary, s.width);
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const std::string layer = t.prefix + "layers." + std::to_string(i) + ".";
    x = t.at_layer(i, x);
    x = b.sum(x, attended(t, s, rotary, i, layer + "self_attn.", b.rms_norm(layer + "input_layernorm", x, s.width, s.epsilon)));
    x = b.sum(x, fed(b, s, layer + "mlp.", b.rms_norm(layer + "post_attention_layernorm", x, s.width, s.epsilon)));
  }
  return b.rms_norm(t.prefix + "norm", t.asked(x, s.width), s.width, s.epsilon);
}

std::vector<SharedChannels> shared_channels(const Json& config, std::int64_t i) {
  const Sizes s = sizes_of(config);
  const std::string layer = "layers." + std::to_string(i) + ".", attention = layer + "self_attn.", fed = layer + "mlp.";
  const std::int64_t queries = s.heads * s.size, keys = s.shared * s.size;
  using Sources = std::vector<SharedChannels::Source>;
  const auto outputs = [](const std::string& product, std::int64_t first, std::int64_t count, bool bias) {
    Sources sources{{product + ".weight", first, count}};
    if (bias) sources.push_back({product + ".bias", first, count});
    return sources;
  };
  const auto norm = [&](const char* name) { return Sources{{layer + name + ".weight", 0, s.width}}; };
  using Names = std::vector<std::string>;
  return {{norm("input_layernorm"), s.joined ? Names{attention + "qkv_proj"}
                                             : Names{attention + "q_proj", attention + "k_proj", attention + "v_proj"}},
          {s.joined ? outputs(attention + "qkv_proj", queries + keys, keys, s.qkv_bias)
                    : outputs(attention + "v_proj", 0, keys, s.qkv_bias),
           {attention + "o_proj"}, s.size, s.heads / s.shared},
          {norm("post_attention_layernorm"), s.joined ? Names{fed + "gate_up_proj"} : Names{fed + "gate_proj", fed + "up_proj"}},
          {s.joined ? outputs(fed + "gate_up_proj", s.wide, s.wide, false) : outputs(fed + "up_proj", 0, s.wide, s.mlp_bias),
           {fed + "down_proj"}}};
}

}  // namespace

Architecture llama() {
  return {.model_types = {"llama", "mistral", "qwen2", "qwen3", "phi3"},
          .prefix = "model.",
          .table = "embed_tokens.weight",
          .places = "max_position_embeddings",
          .cache = cache,
          .hidden = hidden,
          .shared_channels = shared_channels};
}

}  // namespace tenfold::decoders
