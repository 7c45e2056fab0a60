// What attention adds for the distance between two tokens.
#include <cmath>

#include "text/encoders/architecture.h"

namespace tenfold::encoders {
namespace {

// The bucket of a distance: half of them for each direction, half of these exact, the rest in logarithmic steps.
std::int64_t bucket(std::int64_t distance, std::int64_t buckets, std::int64_t farthest) {
  const std::int64_t half = buckets / 2, exact = half / 2;
  const std::int64_t direction = distance > 0 ? half : 0, size = std::abs(distance);
  if (size < exact) return direction + size;
  const float far = std::log(static_cast<float>(size) / static_cast<float>(exact)) /
                    static_cast<float>(std::log(static_cast<double>(farthest) / static_cast<double>(exact)));
  return direction + std::min(half - 1, exact + static_cast<std::int64_t>(far * static_cast<float>(half - exact)));
}

NetworkTensor number(const Blocks& b, std::int64_t value) {
  Tensor tensor(DType::i32, {});
  *tensor.mutable_data<std::int32_t>() = static_cast<std::int32_t>(value);
  return b.net.constant(std::move(tensor));
}

}  // namespace

NetworkTensor distances(const Texts& t) {
  const Blocks& b = t.blocks;
  const auto scalar = [&](NetworkTensor one) { return b.net.add_node("Squeeze", {one, b.integers({0})})[0]; };
  const NetworkTensor places =
      b.net.add_node("Range", {scalar(b.integers({0})), scalar(b.length(t.ids)), scalar(b.integers({1}))})[0];
  const NetworkTensor here = b.net.cast(places, DType::i32);
  const NetworkTensor to = b.net.add_node("Unsqueeze", {here, b.integers({0})})[0],
                      from = b.net.add_node("Unsqueeze", {here, b.integers({1})})[0];
  return b.net.elementwise(Elementwise::sub, to, from);
}

NetworkTensor distance_bias(const Texts& t, const std::string& table, std::int64_t heads, std::int64_t buckets, std::int64_t farthest) {
  const Blocks& b = t.blocks;
  Tensor bucket_of(DType::i32, {2 * farthest + 1});
  for (std::int64_t i = 0; i <= 2 * farthest; ++i)
    bucket_of.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(bucket(i - farthest, buckets, farthest));
  // Biases of all distances once, [heads, 2 farthest + 1]; each pair of tokens takes that of its distance.
  const NetworkTensor biases = b.weight(table, {buckets, heads});
  const NetworkTensor by_distance = b.net.shuffle(b.net.gather(biases, b.net.constant(bucket_of)), {1, 0});
  const NetworkTensor near = b.net.elementwise(
      Elementwise::min, b.net.elementwise(Elementwise::max, distances(t), number(b, -farthest)), number(b, farthest));
  const NetworkTensor row = b.sum(near, number(b, farthest));
  return b.net.add_node("Unsqueeze", {b.net.gather(by_distance, row, 1), b.integers({0})})[0];
}

}  // namespace tenfold::encoders
