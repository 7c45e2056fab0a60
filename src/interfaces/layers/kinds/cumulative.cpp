// ICumulativeLayer: sums along the dim that operand 1, a scalar, names.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  static_cast<void>(call.choice("op", {"SUM"}));
  return {call.node("CumSum", {call.in(0), call.in(1)}, {{"exclusive", call.number("exclusive")}, {"reverse", call.number("reverse")}})};
}

}  // namespace

LayerKind layer_cumulative() {
  return {.name = "cumulative",
          .min_inputs = 2,
          .max_inputs = 2,
          .options = {{"op", std::string("SUM")}, {"exclusive", std::int64_t{0}}, {"reverse", std::int64_t{0}}},
          .make = make};
}

}  // namespace tenfold::layers
