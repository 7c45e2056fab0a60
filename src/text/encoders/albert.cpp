// ALBERT: BERT with narrow embeddings, whose layers are the same few over and over.
#include "text/encoders/architecture.h"

namespace tenfold::encoders {
namespace {

NetworkTensor layer(const Texts& t, const std::string& name, NetworkTensor x) {
  const Blocks& b = t.blocks;
  const std::int64_t width = field(t, "hidden_size"), heads = field(t, "num_attention_heads");
  const auto part = [&](const char* one) { return b.linear(name + "attention." + one, x, width, width); };
  const NetworkTensor attended = b.attention(part("query"), part("key"), part("value"), heads, width, {});
  return finish_layer(
      t, {name + "attention.dense", name + "attention.LayerNorm", name + "ffn", name + "ffn_output", name + "full_layer_layer_norm"},
      attended, x);
}

NetworkTensor tokens(const Texts& t) {
  const std::int64_t narrow = field(t, "embedding_size"), width = field(t, "hidden_size"), layers = field(t, "num_hidden_layers");
  const std::int64_t groups = t.config.number("num_hidden_groups", 1, 1 << 16, 1);
  const std::int64_t inner = t.config.number("inner_group_num", 1, 1 << 16, 1);
  if (width % field(t, "num_attention_heads") != 0) t.config.wrong("hidden_size is no multiple of num_attention_heads");
  if (groups > layers) t.config.wrong("num_hidden_groups is larger than num_hidden_layers");
  NetworkTensor x = t.blocks.linear(t.prefix + "encoder.embedding_hidden_mapping_in", bert_embeddings(t, 0, narrow), narrow, width);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string group = t.prefix + "encoder.albert_layer_groups." + std::to_string(i * groups / layers) + ".albert_layers.";
    for (std::int64_t j = 0; j < inner; ++j) x = layer(t, group + std::to_string(j) + ".", x);
  }
  return x;
}
NetworkTensor head(const Texts& t, NetworkTensor first) { return dense_head(t, first, "albert.pooler", "classifier", "tanh"); }

}  // namespace

Architecture albert() {
  return {.model_types = {"albert"},
          .prefix = "albert.",
          .tables = {"embeddings.word_embeddings.weight"},
          .has_types = true,
          .masks = true,
          .tokens = tokens,
          .head = head};
}

}  // namespace tenfold::encoders
