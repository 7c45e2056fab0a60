// IPoolingLayer, over the last dims, as many as the window has numbers. MAX_AVERAGE_BLEND: (1 - f) times the maximum plus f times the mean.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

// With the dims that lie before the window's as N and C: N stays, the others are channels.
NetworkTensor as_channels(const LayerCall& call, NetworkTensor x, std::int64_t rank, std::int64_t window) {
  const NetworkTensor shape = call.keep(call.net.shape(x));
  const NetworkTensor first = call.node("Slice", {shape, call.integers({0}), call.integers({1})});
  const NetworkTensor last = call.node("Slice", {shape, call.integers({rank - window}), call.integers({rank})});
  return call.node("Reshape", {x, call.node("Concat", {first, call.integers({-1}), last}, {{"axis", std::int64_t{0}}})});
}

// The dims of `like` before the window's, and the others of `x`.
NetworkTensor as_dims(const LayerCall& call, NetworkTensor x, NetworkTensor like, std::int64_t rank, std::int64_t window) {
  const NetworkTensor shape = call.keep(call.net.shape(like)), pooled = call.keep(call.net.shape(x));
  const NetworkTensor first = call.node("Slice", {shape, call.integers({0}), call.integers({rank - window})});
  const NetworkTensor last = call.node("Slice", {pooled, call.integers({2}), call.integers({2 + window})});
  return call.node("Reshape", {x, call.node("Concat", {first, last}, {{"axis", std::int64_t{0}}})});
}

Network::Tensors make(const LayerCall& call) {
  const auto rank = static_cast<std::int64_t>(call.rank(0)), numbers = static_cast<std::int64_t>(call.list("window_size_nd").size());
  const bool folds = numbers > 0 && rank > numbers + 2;
  const NetworkTensor input = folds ? as_channels(call, call.in(0), rank, numbers) : call.in(0);
  NetworkAttributes window = window_of(call, call.list("window_size_nd"), input);
  window["ceil_mode"] = std::int64_t{rounds_up(call)};
  const auto of = [&](const char* op) {
    NetworkAttributes attributes = window;
    if (std::string_view(op) == "AveragePool") attributes["count_include_pad"] = std::int64_t{!call.flag("average_count_excludes_padding")};
    const NetworkTensor pooled = call.node(op, {input}, attributes);
    return folds ? as_dims(call, pooled, call.in(0), rank, numbers) : pooled;
  };
  const std::size_t type = call.choice("type", {"MAX", "AVERAGE", "MAX_AVERAGE_BLEND"});
  if (type < 2) return {of(type == 0 ? "MaxPool" : "AveragePool")};
  const float blend = call.real("blend_factor");
  const NetworkTensor max = call.node("Mul", {of("MaxPool"), call.scalar(call.dtype(0), 1 - blend)});
  return {call.node("Add", {max, call.node("Mul", {of("AveragePool"), call.scalar(call.dtype(0), blend)})})};
}

}  // namespace

LayerKind layer_pooling() {
  return {.name = "pooling",
          .min_inputs = 1,
          .max_inputs = 1,
          .options = {{"type", std::string("MAX")},
                      {"window_size_nd", Shape{}},
                      {"stride_nd", Shape{}},
                      {"pre_padding", Shape{}},
                      {"post_padding", Shape{}},
                      {"padding_mode", std::string("EXPLICIT_ROUND_DOWN")},
                      {"blend_factor", 0.0f},
                      {"average_count_excludes_padding", std::int64_t{1}}},
          .make = make};
}

}  // namespace tenfold::layers
