// How the elements of each channel of products' data operands are spread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "quant/place_qdq.h"
#include "quant/product_weights.h"

namespace tenfold::quant {

// A tensor as [outer, channels, inner].
struct ChannelView {
  std::int64_t outer = 0, channels = 0, inner = 0;
};

struct ChannelStats {
  std::vector<float> low, high;      // 0 is within
  std::vector<double> sum, squares;
  std::int64_t count = 0;            // of elements of each channel
  void add(const float* x, const ChannelView& view);
  float largest(std::size_t c) const { return std::max(high[c], -low[c]); }
};

// The data operand of products that 8 bits may stand for. `seen`: the value whose elements are its own, in the same order; runs do not
// show those that are views.
struct DataOperand {
  const ir::Value* value = nullptr;
  std::string seen;
  bool channels_last = false;
  std::int64_t channels = 0;
  std::vector<ir::Node*> products;
  ChannelView view(const Tensor& t) const;
};
// By their names. Those whose products disagree about their channels are left out.
using DataOperands = std::map<std::string, DataOperand, std::less<>>;
DataOperands data_operands(const ir::Graph& graph, const Placing& placing);

// Runs the model in f32 on at most so many of the samples that gave ranges, and shows the values of these names: each in the order of the
// samples, and two of them at once in two threads.
using Look = std::function<void(std::string_view value, const Tensor& tensor)>;
using RunAgain = std::function<void(const Look& look, const std::set<std::string, std::less<>>& values, std::size_t max)>;
inline constexpr std::size_t kFewSamples = 8, kMoreSamples = 16;

}  // namespace tenfold::quant
