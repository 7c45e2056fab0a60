// RoBERTa and XLM-RoBERTa: BERT whose places begin behind the padding token's id.
#include "text/encoders/architecture.h"

namespace tenfold::encoders {
namespace {

constexpr int kFirstPlace = 2;  // pad_token_id + 1, and the models have padding at 1

NetworkTensor tokens(const Texts& t) {
  if (t.config.number("pad_token_id", 0, 1 << 30, 1) != kFirstPlace - 1) t.config.wrong("pad_token_id is not 1, which places count from");
  return bert_layers(t, bert_embeddings(t, kFirstPlace, field(t, "hidden_size")));
}
NetworkTensor head(const Texts& t, NetworkTensor first) { return dense_head(t, first, "classifier.dense", "classifier.out_proj", "tanh"); }

}  // namespace

Architecture roberta() {
  return {.model_types = {"roberta", "xlm-roberta", "camembert"},
          .prefix = "roberta.",
          .tables = {"embeddings.word_embeddings.weight"},
          .masks = true,
          .reserved_positions = kFirstPlace,
          .tokens = tokens,
          .head = head};
}

}  // namespace tenfold::encoders
