// The encoder of T5 and mT5: norms without means in front of attention and products, and a bias for the distance between two tokens.
#include <nlohmann/json.hpp>

#include "text/encoders/architecture.h"

namespace tenfold::encoders {
namespace {

struct Sizes {
  std::int64_t width, inner, wide, heads;
  float epsilon;
  std::string function;  // between the two products
  bool gated;
};

Sizes sizes_of(const Texts& t) {
  const std::int64_t heads = field(t, "num_heads");
  const auto epsilon = t.config.value.find("layer_norm_epsilon");
  const std::string form = t.config.has("feed_forward_proj") ? t.config.text("feed_forward_proj") : "relu";
  const bool gated = form.starts_with("gated-");
  return {.width = field(t, "d_model"),
          .inner = heads * field(t, "d_kv"),
          .wide = field(t, "d_ff"),
          .heads = heads,
          .epsilon = epsilon != t.config.value.end() && epsilon->is_number() ? epsilon->get<float>() : 1e-6f,
          .function = form == "gated-gelu" ? "gelu_new" : gated ? form.substr(6) : form,
          .gated = gated};
}

NetworkTensor attended(const Texts& t, const Sizes& s, const std::string& name, NetworkTensor x, NetworkTensor bias) {
  const Blocks& b = t.blocks;
  const auto part = [&](const char* one) { return b.linear(name + "SelfAttention." + one, x, s.width, s.inner, false); };
  const NetworkTensor mixed = b.attention(part("q"), part("k"), part("v"), s.heads, s.inner, bias, false);
  return b.linear(name + "SelfAttention.o", mixed, s.inner, s.width, false);
}

NetworkTensor fed(const Texts& t, const Sizes& s, const std::string& name, NetworkTensor x) {
  const Blocks& b = t.blocks;
  const NetworkTensor first = b.activation(s.function, b.linear(name + (s.gated ? "wi_0" : "wi"), x, s.width, s.wide, false));
  const NetworkTensor wide =
      s.gated ? b.net.elementwise(Elementwise::prod, first, b.linear(name + "wi_1", x, s.width, s.wide, false)) : first;
  return b.linear(name + "wo", wide, s.wide, s.width, false);
}

NetworkTensor tokens(const Texts& t) {
  const Blocks& b = t.blocks;
  const Sizes s = sizes_of(t);
  const std::int64_t buckets = t.config.number("relative_attention_num_buckets", 4, 1 << 16, 32);
  const std::int64_t farthest = t.config.number("relative_attention_max_distance", buckets / 4 + 1, 1 << 20, 128);
  NetworkTensor x = b.net.gather(b.weight(t.table, {-1, s.width}), t.ids);
  const std::string blocks = t.prefix + "encoder.block.";
  const NetworkTensor bias =
      distance_bias(t, blocks + "0.layer.0.SelfAttention.relative_attention_bias.weight", s.heads, buckets, farthest);
  for (std::int64_t i = 0; i < field(t, "num_layers"); ++i) {
    const std::string first = blocks + std::to_string(i) + ".layer.0.", second = blocks + std::to_string(i) + ".layer.1.";
    x = b.sum(x, attended(t, s, first, b.rms_norm(first + "layer_norm", x, s.width, s.epsilon), bias));
    x = b.sum(x, fed(t, s, second + "DenseReluDense.", b.rms_norm(second + "layer_norm", x, s.width, s.epsilon)));
  }
  return b.rms_norm(t.prefix + "encoder.final_layer_norm", x, s.width, s.epsilon);
}

}  // namespace

Architecture t5() {
  return {.model_types = {"t5", "mt5"}, .prefix = "", .tables = {"shared.weight", "encoder.embed_tokens.weight"}, .tokens = tokens};
}

}  // namespace tenfold::encoders
