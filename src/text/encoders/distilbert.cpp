// DistilBERT: BERT without types, under names of its own.
#include "text/encoders/architecture.h"

namespace tenfold::encoders {
namespace {

constexpr float kEpsilon = 1e-12f;

NetworkTensor embeddings(const Texts& t, std::int64_t width) {
  const Blocks& b = t.blocks;
  const std::string name = t.prefix + "embeddings.";
  const NetworkTensor tokens = b.net.gather(b.weight(name + "word_embeddings.weight", {field(t, "vocab_size"), width}), t.ids);
  const NetworkTensor places = b.weight(name + "position_embeddings.weight", {field(t, "max_position_embeddings"), width});
  return b.layer_norm(name + "LayerNorm", b.sum(tokens, b.rows(places, 0, b.length(t.ids))), width, kEpsilon);
}

NetworkTensor tokens(const Texts& t) {
  const Blocks& b = t.blocks;
  const std::int64_t width = field(t, "dim"), heads = field(t, "n_heads"), layers = field(t, "n_layers"), wide = field(t, "hidden_dim");
  if (width % heads != 0) t.config.wrong("dim is no multiple of n_heads");
  NetworkTensor x = embeddings(t, width);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string layer = t.prefix + "transformer.layer." + std::to_string(i) + ".";
    const auto part = [&](const char* name) { return b.linear(layer + "attention." + name, x, width, width); };
    const NetworkTensor attended = b.attention(part("q_lin"), part("k_lin"), part("v_lin"), heads, width, {});
    const NetworkTensor mixed = b.linear(layer + "attention.out_lin", attended, width, width);
    const NetworkTensor middle = b.layer_norm(layer + "sa_layer_norm", b.sum(mixed, x), width, kEpsilon);
    const NetworkTensor inner = b.activation(t.config.text("activation"), b.linear(layer + "ffn.lin1", middle, width, wide));
    x = b.layer_norm(layer + "output_layer_norm", b.sum(b.linear(layer + "ffn.lin2", inner, wide, width), middle), width, kEpsilon);
  }
  return x;
}
NetworkTensor head(const Texts& t, NetworkTensor first) { return dense_head(t, first, "pre_classifier", "classifier", "relu"); }

}  // namespace

Architecture distilbert() {
  return {.model_types = {"distilbert"},
          .prefix = "distilbert.",
          .tables = {"embeddings.word_embeddings.weight"},
          .masks = true,
          .tokens = tokens,
          .head = head};
}

}  // namespace tenfold::encoders
