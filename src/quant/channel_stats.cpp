#include "quant/channel_stats.h"

#include <algorithm>

namespace tenfold::quant {
namespace {

// Of a plane: its elements lie side by side.
struct Sums {
  float low = 0, high = 0;
  double sum = 0, squares = 0;
  void add(const float* x, std::int64_t count) {
    constexpr std::int64_t kBlock = 256;
    for (std::int64_t begin = 0; begin < count; begin += kBlock) {
      float part = 0, part_squares = 0;
      for (std::int64_t i = begin; i < std::min(count, begin + kBlock); ++i)
        low = std::min(low, x[i]), high = std::max(high, x[i]), part += x[i], part_squares += x[i] * x[i];
      sum += static_cast<double>(part), squares += static_cast<double>(part_squares);
    }
  }
};

const ir::Value& before_reshapes(const ir::Value& v) {
  const ir::Value* x = &v;
  while (x->producer && !x->producer->body && x->producer->def->traits.movement == ir::Movement::reshape) x = x->producer->in(0);
  return *x;
}

}  // namespace

void ChannelStats::add(const float* x, const ChannelView& view) {
  const auto channels = static_cast<std::size_t>(view.channels);
  low.resize(channels), high.resize(channels), sum.resize(channels), squares.resize(channels);
  count += view.outer * view.inner;
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::size_t c = 0; c < channels; ++c, x += view.inner) {
      Sums s{low[c], high[c], sum[c], squares[c]};
      s.add(x, view.inner);
      low[c] = s.low, high[c] = s.high, sum[c] = s.sum, squares[c] = s.squares;
    }
}

ChannelView DataOperand::view(const Tensor& t) const {
  if (channels_last) return {t.size() / channels, channels, 1};
  const std::int64_t outer = t.shape()[0];
  return {outer, channels, outer * channels == 0 ? 0 : t.size() / (outer * channels)};
}

DataOperands data_operands(const ir::Graph& graph, const Placing& placing) {
  DataOperands found;
  std::set<std::string> torn;
  for (const auto& node : graph.nodes()) {
    const auto weights = weights_of(*node);
    if (!weights || weights->in < 1 || (placing.takes && !placing.takes(*node))) continue;
    const ir::Value& x = *node->in(0);
    DataOperand& operand = found[x.name];
    if (operand.value && (operand.channels_last != weights->channels_last || operand.channels != weights->in)) torn.insert(x.name);
    operand.value = &x, operand.channels_last = weights->channels_last, operand.channels = weights->in;
    operand.seen = weights->channels_last ? before_reshapes(x).name : x.name;
    operand.products.push_back(node.get());
  }
  for (const std::string& name : torn) found.erase(name);
  return found;
}

}  // namespace tenfold::quant
