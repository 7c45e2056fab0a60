// IQuantizeLayer. The zero point is zero. axis -1: one scale for all. block_shape: see quantized.cpp.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  NetworkTensor zero = call.maybe(2);
  if (!zero.defined()) {
    const DType type = dtype_of(call, call.text("to_type"));
    zero = call.net.constant(Tensor(type, call.known_shape(1, "a scale")));  // zeros
  }
  return {call.node("QuantizeLinear", {call.in(0), call.in(1), zero}, scaled_along(call))};
}

}  // namespace

LayerKind layer_quantize() {
  return {.name = "quantize",
          .min_inputs = 2,
          .max_inputs = 3,
          .options = {{"axis", std::int64_t{-1}}, {"to_type", std::string("INT8")}, {"block_shape", Shape{}}},
          .make = make};
}

}  // namespace tenfold::layers
