// BERT: embeddings of tokens, places and types; layers of attention and two products, each with a norm behind its sum.
#include "text/encoders/architecture.h"

namespace tenfold::encoders {

NetworkTensor bert_embeddings(const Texts& t, std::int64_t first, std::int64_t width) {
  const Blocks& b = t.blocks;
  const std::string name = t.prefix + "embeddings.";
  const std::int64_t kinds = field(t, "type_vocab_size");
  if (t.config.has("position_embedding_type") && t.config.text("position_embedding_type") != "absolute")
    t.config.wrong("position_embedding_type is '" + t.config.text("position_embedding_type") + "', only absolute is supported");
  const NetworkTensor tokens = b.net.gather(b.weight(name + "word_embeddings.weight", {field(t, "vocab_size"), width}), t.ids);
  const NetworkTensor places = b.weight(name + "position_embeddings.weight", {field(t, "max_position_embeddings"), width});
  const NetworkTensor types = b.weight(name + "token_type_embeddings.weight", {kinds, width});
  const NetworkTensor type = t.types.defined() && kinds > 1 ? b.net.gather(types, t.types) : b.net.slice(types, {0, 0}, {1, width});
  const NetworkTensor placed = b.sum(tokens, b.rows(places, first, b.length(t.ids)));
  return b.layer_norm(name + "LayerNorm", b.sum(placed, type), width, epsilon(t));
}

NetworkTensor bert_layers(const Texts& t, NetworkTensor x) {
  const Blocks& b = t.blocks;
  const std::int64_t width = field(t, "hidden_size"), heads = field(t, "num_attention_heads"), layers = field(t, "num_hidden_layers");
  if (t.config.flag("is_decoder", false)) t.config.wrong("is_decoder is true, and layers that look back alone are not supported");
  if (width % heads != 0) t.config.wrong("hidden_size is no multiple of num_attention_heads");
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string layer = t.prefix + "encoder.layer." + std::to_string(i) + ".", self = layer + "attention.self.";
    const auto part = [&](const char* name) { return b.linear(self + name, x, width, width); };
    const NetworkTensor attended = b.attention(part("query"), part("key"), part("value"), heads, width, {});
    x = finish_layer(t,
                     {layer + "attention.output.dense", layer + "attention.output.LayerNorm", layer + "intermediate.dense",
                      layer + "output.dense", layer + "output.LayerNorm"},
                     attended, x);
  }
  return x;
}

namespace {

NetworkTensor tokens(const Texts& t) { return bert_layers(t, bert_embeddings(t, 0, field(t, "hidden_size"))); }
NetworkTensor head(const Texts& t, NetworkTensor first) { return dense_head(t, first, "bert.pooler.dense", "classifier", "tanh"); }

}  // namespace

Architecture bert() {
  return {.model_types = {"bert"},
          .prefix = "bert.",
          .tables = {"embeddings.word_embeddings.weight"},
          .has_types = true,
          .masks = true,
          .tokens = tokens,
          .head = head};
}

}  // namespace tenfold::encoders
