// MPNet: BERT without types, with a bias for the distance between two tokens, which all layers share.
#include <cmath>

#include "text/encoders/architecture.h"

namespace tenfold::encoders {
namespace {

constexpr std::int64_t kBuckets = 32, kFarthest = 128, kFirstPlace = 2;

// The bucket of a distance: half of them for each direction, half of these exact, the rest in logarithmic steps.
std::int64_t bucket(std::int64_t distance, std::int64_t buckets) {
  const std::int64_t half = buckets / 2, exact = half / 2;
  const std::int64_t direction = distance > 0 ? half : 0, size = std::abs(distance);
  if (size < exact) return direction + size;
  const float far = std::log(static_cast<float>(size) / static_cast<float>(exact)) /
                    static_cast<float>(std::log(static_cast<double>(kFarthest) / static_cast<double>(exact)));
  return direction + std::min(half - 1, exact + static_cast<std::int64_t>(far * static_cast<float>(half - exact)));
}

// [1, heads, tokens, tokens] of the table [buckets, heads].
NetworkTensor distance_bias(const Texts& t, std::int64_t heads) {
  const Blocks& b = t.blocks;
  const std::int64_t buckets = t.config.number("relative_attention_num_buckets", 4, 1 << 16, kBuckets);
  const std::int64_t longest = field(t, "max_position_embeddings");
  Tensor table(DType::i32, {2 * longest - 1}), places(DType::i32, {longest});
  for (std::int64_t i = 0; i < 2 * longest - 1; ++i)
    table.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(bucket(i - (longest - 1), buckets));
  for (std::int64_t i = 0; i < longest; ++i) places.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  Tensor middle(DType::i32, {});
  *middle.mutable_data<std::int32_t>() = static_cast<std::int32_t>(longest - 1);
  // Biases of all distances once, [heads, 2 longest - 1]; each pair of tokens takes that of its distance.
  const NetworkTensor biases = b.weight(t.prefix + "encoder.relative_attention_bias.weight", {buckets, heads});
  const NetworkTensor by_distance = b.net.shuffle(b.net.gather(biases, b.net.constant(table)), {1, 0});
  const NetworkTensor here = b.rows(b.net.constant(places), 0, b.length(t.ids));
  const NetworkTensor to = b.net.add_node("Unsqueeze", {here, b.integers({0})})[0],
                      from = b.net.add_node("Unsqueeze", {here, b.integers({1})})[0];
  const NetworkTensor distance = b.sum(b.net.elementwise(Elementwise::sub, to, from), b.net.constant(middle));
  return b.net.add_node("Unsqueeze", {b.net.gather(by_distance, distance, 1), b.integers({0})})[0];
}

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
  const NetworkTensor bias = distance_bias(t, heads);
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
          .table = "embeddings.word_embeddings.weight",
          .reserved_positions = kFirstPlace,
          .tokens = tokens,
          .head = head};
}

}  // namespace tenfold::encoders
