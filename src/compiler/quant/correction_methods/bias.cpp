// bias: the mean error of each output channel is taken off the bias (Nagel et al. 2019, arXiv 1906.04721). It follows from the mean of each
// channel of the data, and of the same rounded; borders of convolutions are taken to be like the middle.
#include <algorithm>
#include <cmath>

#include "base/types/element.h"
#include "quant/bias_place.h"
#include "quant/correction_method.h"
#include "quant/scale_channels.h"

namespace tenfold::quant {
namespace {

using ir::Node;

struct Means {
  std::vector<double> exact, rounded;   // sums, of each channel
  std::int64_t count = 0;
};

// A product where it is exact, and where its operands are rounded.
struct Pair {
  const Node *exact = nullptr, *rounded = nullptr;
  Means means;
};

std::map<std::string_view, Node*> by_result(const ir::Graph& graph) {
  std::map<std::string_view, Node*> nodes;
  for (const auto& node : graph.nodes())
    if (node->out()) nodes[node->out()->name] = node.get();
  return nodes;
}

const Node* dequantized(const Node& product, int operand) {
  const Node* node = product.in(operand)->producer;
  return node && node->op() == "DequantizeLinear" ? node : nullptr;
}

// What a DequantizeLinear gives of a number that was quantized.
class Rounding {
 public:
  explicit Rounding(const Node& dq)
      : type_(dq.in(2)->dtype()),
        scale_(*dq.in(1)->constant->tensor.data<float>()),
        zero_(static_cast<float>(dq.in(2)->constant->tensor.as_double(0))) {}
  float operator()(float x) const {
    const float steps = x / scale_;
    if (type_ == DType::f8e4m3fn) return e4m3(steps) * scale_;
    const bool is_signed = type_ == DType::i8;
    constexpr float kHalves = 12582912;  // 1.5 * 2^23: no bits are left behind the point; nearbyint() is a call
    return ((std::clamp(steps, (is_signed ? -128 : 0) - zero_, (is_signed ? 127 : 255) - zero_) + kHalves) - kHalves) * scale_;
  }

 private:
  static float e4m3(float x) {
    std::uint8_t byte = 0;
    store_double(DType::f8e4m3fn, &byte, 0, static_cast<double>(std::clamp(x, -448.0F, 448.0F)));
    return static_cast<float>(load_double(DType::f8e4m3fn, &byte, 0));
  }
  const DType type_;
  const float scale_, zero_;
};

void add(Means& to, const Tensor& t, const ChannelView& view, const std::vector<float>* factors, const Node& dq) {
  const Rounding round(dq);
  to.exact.resize(static_cast<std::size_t>(view.channels)), to.rounded.resize(to.exact.size()), to.count += view.outer * view.inner;
  const float* x = t.data<float>();
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::size_t c = 0; c < to.exact.size(); ++c) {
      const float factor = factors ? (*factors)[c] : 1;
      double exact = 0, rounded = 0;
      for (std::int64_t i = 0; i < view.inner; ++i, ++x) {
        const float v = *x * factor;
        exact += static_cast<double>(v);
        rounded += static_cast<double>(round(v));
      }
      to.exact[c] += exact, to.rounded[c] += rounded;
    }
}

// What the bias has to gain, by output channel.
std::vector<float> lost(const Pair& pair) {
  const ProductWeights w = *weights_of(*pair.exact);
  const Node& dq = *dequantized(*pair.rounded, 1);
  const float* exact = pair.exact->in(1)->constant->tensor.data<float>();
  const Tensor& rounded = dq.in(0)->constant->tensor;
  const float* scales = dq.in(1)->constant->tensor.data<float>();
  std::vector<double> sum(static_cast<std::size_t>(w.out), 0);
  w.each([&](std::int64_t at, std::int64_t in, std::int64_t out) {
    const auto i = static_cast<std::size_t>(in), o = static_cast<std::size_t>(out);
    const float weight = static_cast<float>(rounded.as_double(at)) * scales[o];
    sum[o] += static_cast<double>(exact[at]) * pair.means.exact[i] - static_cast<double>(weight) * pair.means.rounded[i];
  });
  std::vector<float> result;
  for (const double x : sum) result.push_back(static_cast<float>(x / static_cast<double>(pair.means.count)));
  return result;
}

std::optional<Ranges> apply(const CorrectionInput& s) {
  ir::Graph exact = s.graph.clone(), rounded = s.graph.clone();
  scale_channels(exact, s.ranges.corrections.channels);
  place_qdq(rounded, s.ranges, s.placing);
  const auto of_exact = by_result(exact), of_rounded = by_result(rounded);
  const auto operands = data_operands(s.graph, s.placing);
  std::map<std::string, Pair> pairs;   // by the product's result
  std::multimap<std::string, const DataOperand*, std::less<>> readers;
  std::set<std::string, std::less<>> values;
  for (const auto& [name, operand] : operands) {
    readers.emplace(operand.seen, &operand), values.insert(operand.seen);
    for (const Node* product : operand.products) {
      const auto a = of_exact.find(product->out()->name), b = of_rounded.find(product->out()->name);
      if (a == of_exact.end() || b == of_rounded.end() || !dequantized(*b->second, 0) || !dequantized(*b->second, 1)) continue;
      if (bias_place(*a->second)) pairs[product->out()->name] = {a->second, b->second, {}};
    }
  }
  s.run([&](std::string_view value, const Tensor& t) {
    if (t.dtype() != DType::f32) return;
    for (auto [at, end] = readers.equal_range(value); at != end; ++at) {
      const auto factors = s.ranges.corrections.channels.find(at->second->value->name);
      const std::vector<float>* own = factors == s.ranges.corrections.channels.end() ? nullptr : &factors->second;
      for (const Node* product : at->second->products)
        if (const auto pair = pairs.find(product->out()->name); pair != pairs.end())
          add(pair->second.means, t, at->second->view(t), own, *dequantized(*pair->second.rounded, 0));
    }
  }, values, kFewSamples);
  Ranges result = s.ranges;
  for (const auto& [name, pair] : pairs)
    if (pair.means.count > 0) result.corrections.biases[name] = lost(pair);
  return result.corrections.biases.empty() ? std::optional<Ranges>() : result;
}

}  // namespace

CorrectionMethod correction_method_bias() { return {"bias", apply}; }

}  // namespace tenfold::quant
