// IDequantizeLayer. The zero point is zero. axis -1: one scale for all.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const std::int64_t axis = call.number("axis");
  NetworkTensor y = call.keep(call.net.dequantize(call.in(0), call.in(1), call.maybe(2), axis < 0 ? 1 : axis));
  const DType wanted = dtype_of(call, call.text("to_type"));
  return {call.net.dtype(y) == wanted ? y : call.cast(y, wanted)};
}

}  // namespace

LayerKind layer_dequantize() {
  return {.name = "dequantize",
          .min_inputs = 2,
          .max_inputs = 3,
          .options = {{"axis", std::int64_t{-1}}, {"to_type", std::string("FLOAT")}},
          .make = make};
}

}  // namespace tenfold::layers
