// ELECTRA's discriminator: BERT whose embeddings may be narrower than its layers, which a product widens.
#include "text/encoders/architecture.h"

namespace tenfold::encoders {
namespace {

NetworkTensor tokens(const Texts& t) {
  const std::int64_t narrow = field(t, "embedding_size"), width = field(t, "hidden_size");
  const NetworkTensor x = bert_embeddings(t, 0, narrow);
  return bert_layers(t, narrow == width ? x : t.blocks.linear(t.prefix + "embeddings_project", x, narrow, width));
}
NetworkTensor head(const Texts& t, NetworkTensor first) { return dense_head(t, first, "classifier.dense", "classifier.out_proj", "gelu"); }

}  // namespace

Architecture electra() {
  return {.model_types = {"electra"},
          .prefix = "electra.",
          .tables = {"embeddings.word_embeddings.weight"},
          .has_types = true,
          .masks = true,
          .tokens = tokens,
          .head = head};
}

}  // namespace tenfold::encoders
