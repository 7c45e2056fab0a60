// MPNet: BERT without types, with a bias for the distance between two tokens, which all layers share.
#include "text/encoders/architecture.h"

namespace tenfold::encoders {
namespace {

constexpr std::int64_t kBuckets = 32, kFarthest = 128, kFirstPlace = 2;

NetworkTensor embeddings(const Texts& t, std::int64_t width) {
  const Blocks& b = t.blocks;
  const std::string name = t.prefix + "embeddings.";
  const NetworkTensor tokens = b.net.gather(b.weight(name + "word_embeddings.weight", {field(t, "vocab_size"), width}), t.ids);
  const NetworkTensor places = b.weight(name + "position_embeddings.weight", {field(t, "max_position_embeddings"), width});
  return b.layer_norm(name + "LayerNorm", b.sum(tokens, b.rows(places, kFirstPlace, b.length(t.ids))), width, epsilon(t));
}

NetworkTensor tokens(const Texts& t) {
  const Blocks& b = t.blocks;
  const std::int64_t width = field(t, "hidden_size"), heads = field(t, "num_attention_heads"), layers = field(t, "num_hidden_layers");
  if (width % heads != 0) t.config.wrong("hidden_size is no multiple of num_attention_heads");
  const NetworkTensor bias = distance_bias(t, t.prefix + "encoder.relative_attention_bias.weight", heads,
                                           t.config.number("relative_attention_num_buckets", 4, 1 << 16, kBuckets), kFarthest);
  NetworkTensor x = embeddings(t, width);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string layer = t.prefix + "encoder.layer." + std::to_string(i) + ".", self = layer + "attention.attn.";
    const auto part = [&](const char* name) { return b.linear(self + name, x, width, width); };
    const NetworkTensor attended = b.attention(part("q"), part("k"), part("v"), heads, width, bias);
    x = finish_layer(
        t, {self + "o", layer + "attention.LayerNorm", layer + "intermediate.dense", layer + "output.dense", layer + "output.LayerNorm"},
        attended, x);
  }
  return x;
}
NetworkTensor head(const Texts& t, NetworkTensor first) { return dense_head(t, first, "classifier.dense", "classifier.out_proj", "tanh"); }

}  // namespace

Architecture mpnet() {
  return {.model_types = {"mpnet"},
          .prefix = "mpnet.",
          .tables = {"embeddings.word_embeddings.weight"},
          .reserved_positions = kFirstPlace,
          .tokens = tokens,
          .head = head};
}

}  // namespace tenfold::encoders
