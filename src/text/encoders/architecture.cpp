#include "text/encoders/architecture.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tenfold::encoders {

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> all{bert(), distilbert(), roberta(), mpnet(), electra(), albert(), modernbert(), t5()};
  return all;
}

const Architecture* find_architecture(const std::string& model_type) {
  for (const Architecture& one : architectures())
    if (std::count(one.model_types.begin(), one.model_types.end(), model_type)) return &one;
  return nullptr;
}

std::string known_architectures() {
  std::string names;
  for (const Architecture& one : architectures())
    for (const std::string& type : one.model_types) names += (names.empty() ? "" : ", ") + type;
  return names;
}

std::int64_t field(const Texts& texts, const char* key) { return texts.config.number(key, 1, 1 << 30); }

float epsilon(const Texts& texts) {
  const auto at = texts.config.value.find("layer_norm_eps");
  return at != texts.config.value.end() && at->is_number() ? at->get<float>() : 1e-12f;
}

NetworkTensor finish_layer(const Texts& texts, const LayerNames& names, NetworkTensor attended, NetworkTensor x) {
  const Blocks& b = texts.blocks;
  const std::int64_t width = field(texts, "hidden_size"), wide = field(texts, "intermediate_size");
  const NetworkTensor middle =
      b.layer_norm(names.attention_norm, b.sum(b.linear(names.attention_out, attended, width, width), x), width, epsilon(texts));
  const NetworkTensor inner = b.activation(texts.config.text("hidden_act"), b.linear(names.wide, middle, width, wide));
  return b.layer_norm(names.norm, b.sum(b.linear(names.narrow, inner, wide, width), middle), width, epsilon(texts));
}

NetworkTensor dense_head(const Texts& texts, NetworkTensor first, const std::string& dense, const std::string& out,
                         const char* activation) {
  const Blocks& b = texts.blocks;
  const std::int64_t width = b.weights.shape(dense + ".weight", {-1, -1})[0];
  const std::int64_t labels = b.weights.shape(out + ".weight", {-1, width})[0];
  return b.linear(out, b.activation(activation, b.linear(dense, first, width, width)), width, labels);
}

}  // namespace tenfold::encoders
