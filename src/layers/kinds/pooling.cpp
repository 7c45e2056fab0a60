// IPoolingLayer. MAX_AVERAGE_BLEND: (1 - f) times the maximum plus f times the mean.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  NetworkAttributes window = window_of(call, call.list("window_size_nd"));
  window["ceil_mode"] = std::int64_t{call.text("padding_mode") == "EXPLICIT_ROUND_UP"};
  const auto of = [&](const char* op) {
    NetworkAttributes attributes = window;
    if (std::string_view(op) == "AveragePool") attributes["count_include_pad"] = std::int64_t{!call.flag("average_count_excludes_padding")};
    return call.node(op, {call.in(0)}, attributes);
  };
  const std::size_t type = call.choice("type", {"MAX", "AVERAGE", "MAX_AVERAGE_BLEND"});
  if (type < 2) return {of(type == 0 ? "MaxPool" : "AveragePool")};
  const float blend = call.real("blend_factor");
  const NetworkTensor most = call.node("Mul", {of("MaxPool"), call.scalar(call.dtype(0), 1 - blend)});
  return {call.node("Add", {most, call.node("Mul", {of("AveragePool"), call.scalar(call.dtype(0), blend)})})};
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
