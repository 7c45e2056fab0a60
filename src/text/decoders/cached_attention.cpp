#include "text/decoders/cached_attention.h"

#include <limits>
#include <numeric>

#include "text/fail.h"

namespace tenfold::decoders {

std::string past_name(std::int64_t layer, bool values) { return "past." + std::to_string(layer) + (values ? ".value" : ".key"); }
std::string present_name(std::int64_t layer, bool values) { return "present." + std::to_string(layer) + (values ? ".value" : ".key"); }

std::vector<CacheState> CacheSizes::states(std::int64_t layer) const {
  std::vector<CacheState> all;
  for (const bool values : {false, true}) {
    const std::string past = past_name(layer, values), present = present_name(layer, values);
    all.push_back({past, present, type, size});
    if (type == DType::i8) all.push_back({past + "_scale", present + "_scale", DType::f32, 1});
  }
  return all;
}

std::vector<CacheState> CacheSizes::states() const {
  std::vector<CacheState> all;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    for (CacheState& state : states(layer)) all.push_back(std::move(state));
  return all;
}

std::int64_t CacheSizes::bytes(const CacheState& state) const {
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  std::int64_t bytes = bits(state.type) / 8;
  for (const std::int64_t extent : {heads, state.size, capacity})
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMax)
      tokenizing::fail(ErrorKind::invalid_argument, "keys of " + std::to_string(heads) + " heads of " + std::to_string(size) + " for " +
                                                        std::to_string(capacity) + " tokens take more than 2^40 bytes; set max_length");
  return bytes;
}

std::int64_t CacheSizes::bytes() const {
  std::int64_t all = 0;  // states are at most 2^40 bytes, layers 2^16
  for (const CacheState& state : states(0)) all += layers * bytes(state);
  return all;
}

CachedAttention::CachedAttention(const transformers::Blocks& blocks, const CacheSizes& sizes, NetworkTensor positions)
    : blocks_(blocks), sizes_(sizes), positions_(positions) {
  Network& net = blocks.net;
  start_ = net.input("start", DType::i64, {"batch"});
  total_ = net.add_node("Shape", {net.input("keys", DType::boolean, {"total"})})[0];
  Tensor all(DType::i32, {sizes.capacity});
  std::iota(all.mutable_data<std::int32_t>(), all.mutable_data<std::int32_t>() + sizes.capacity, 0);
  places_ = net.add_node("Slice", {net.constant(std::move(all)), blocks.integers({0}), total_})[0];
}

NetworkTensor CachedAttention::cast(NetworkTensor x, DType type) const {
  return blocks_.net.dtype(x) == type ? x : blocks_.net.cast(x, type);
}

// A state with the rows in it, as far as it is read.
NetworkTensor CachedAttention::continued(const CacheState& state, NetworkTensor rows) {
  Network& net = blocks_.net;
  const NetworkTensor past = net.input(state.past, state.type, {"batch", sizes_.heads, sizes_.capacity, state.size});
  const NetworkTensor present = net.add_node("TensorScatter", {past, rows, start_}, {{"axis", std::int64_t{2}}})[0];
  net.mark_output(present, state.present);
  return net.add_node("Slice", {present, blocks_.integers({0}), total_, blocks_.integers({2})})[0];
}

// Rows of int8 are round(row / scale), where a scale is the row's largest magnitude by 127; those next to zero are zeros.
NetworkTensor CachedAttention::continued(std::int64_t layer, bool values, NetworkTensor rows) {
  const std::vector<CacheState> states = sizes_.states(layer);
  if (sizes_.type != DType::i8) return continued(states[values ? 1 : 0], cast(rows, sizes_.type));
  Network& net = blocks_.net;
  rows = cast(rows, DType::f32);
  const NetworkTensor largest = net.reduce(Reduce::max, net.unary(Unary::abs, rows), {-1});
  const NetworkTensor scale = net.elementwise(Elementwise::div, largest, blocks_.scalar(127));
  const NetworkTensor divisor = net.elementwise(Elementwise::max, scale, blocks_.scalar(std::numeric_limits<float>::min()));
  const NetworkTensor bytes = net.cast(net.unary(Unary::round, net.elementwise(Elementwise::div, rows, divisor)), DType::i8);
  const std::size_t first = values ? 2 : 0;
  const NetworkTensor all = continued(states[first], bytes), scales = continued(states[first + 1], divisor);
  return net.add_node("DequantizeLinear", {all, scales}, {{"axis", std::int64_t{3}}, {"block_size", sizes_.size}})[0];
}

NetworkTensor CachedAttention::hidden(std::int64_t window) {
  if (window >= sizes_.capacity) window = 0;   // all places are seen
  NetworkTensor& hidden = hidden_[window];
  if (hidden.defined()) return hidden;
  Network& net = blocks_.net;
  const NetworkTensor own = net.add_node("Unsqueeze", {positions_, blocks_.integers({1, 3})})[0];
  hidden = net.elementwise(Elementwise::greater, places_, own);
  if (window > 0) {
    Tensor size(DType::i32, {});
    *size.mutable_data<std::int32_t>() = static_cast<std::int32_t>(window);
    const NetworkTensor first = net.elementwise(Elementwise::sub, own, net.constant(std::move(size)));
    hidden = net.elementwise(Elementwise::logical_or, hidden, net.elementwise(Elementwise::less_or_equal, places_, first));
  }
  return hidden;
}

NetworkTensor CachedAttention::mask(std::int64_t window) {
  if (window >= sizes_.capacity) window = 0;
  NetworkTensor& mask = masks_[window];
  if (mask.defined()) return mask;
  return mask = blocks_.net.select(hidden(window), blocks_.scalar(-std::numeric_limits<float>::infinity()), blocks_.scalar(0));
}

NetworkTensor CachedAttention::attend(std::int64_t layer, NetworkTensor q, NetworkTensor k, NetworkTensor v, std::int64_t heads,
                                      float scale, std::int64_t window) {
  Network& net = blocks_.net;
  const NetworkTensor keys = continued(layer, false, k), values = continued(layer, true, v);
  const NetworkTensor mixed =
      net.add_node("Attention", {cast(q, computed()), keys, values, cast(mask(window), computed())}, {{"scale", scale}})[0];
  return net.shuffle(cast(mixed, DType::f32), {0, 2, 1, 3}, Shape{0, 0, heads * sizes_.size});
}

}  // namespace tenfold::decoders
