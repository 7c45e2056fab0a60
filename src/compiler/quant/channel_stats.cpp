#include "quant/channel_stats.h"

#include <algorithm>

namespace tenfold::quant {
namespace {

// Of a plane, whose elements lie side by side: several sums at a time, so that none waits for another.
struct Plane {
  static constexpr int kLanes = 8;
  float low[kLanes] = {}, high[kLanes] = {};
  double sum = 0, squares = 0;
  void add(const float* x, std::int64_t count) {
    constexpr std::int64_t kBlock = 512;   // floats sum so many
    std::int64_t i = 0;
    while (i + kLanes <= count) {
      float part[kLanes] = {}, part_squares[kLanes] = {};
      for (const std::int64_t end = std::min(count, i + kBlock); i + kLanes <= end; i += kLanes)
        for (int k = 0; k < kLanes; ++k) {
          const float v = x[i + k];
          low[k] = v < low[k] ? v : low[k], high[k] = v > high[k] ? v : high[k], part[k] += v, part_squares[k] += v * v;
        }
      for (int k = 0; k < kLanes; ++k) sum += static_cast<double>(part[k]), squares += static_cast<double>(part_squares[k]);
    }
    for (; i < count; ++i) {
      const auto v = static_cast<double>(x[i]);
      low[0] = std::min(low[0], x[i]), high[0] = std::max(high[0], x[i]), sum += v, squares += v * v;
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
  if (view.inner == 1) {
    for (std::int64_t o = 0; o < view.outer; ++o)
      for (std::size_t c = 0; c < channels; ++c, ++x)
        low[c] = std::min(low[c], *x), high[c] = std::max(high[c], *x), sum[c] += static_cast<double>(*x),
        squares[c] += static_cast<double>(*x) * static_cast<double>(*x);
    return;
  }
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::size_t c = 0; c < channels; ++c, x += view.inner) {
      Plane plane;
      plane.add(x, view.inner);
      for (int k = 0; k < Plane::kLanes; ++k) low[c] = std::min(low[c], plane.low[k]), high[c] = std::max(high[c], plane.high[k]);
      sum[c] += plane.sum, squares[c] += plane.squares;
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
