// IDequantizeLayer. The zero point is zero. axis -1: one scale for all. block_shape: see quantized.cpp.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const NetworkTensor y = call.node("DequantizeLinear", {call.in(0), call.in(1), call.maybe(2)}, scaled_along(call));
  const DType requested = dtype_of(call, call.text("to_type"));
  return {call.net.dtype(y) == requested ? y : call.cast(y, requested)};
}

}  // namespace

LayerKind layer_dequantize() {
  return {.name = "dequantize",
          .min_inputs = 2,
          .max_inputs = 3,
          .options = {{"axis", std::int64_t{-1}}, {"to_type", std::string("FLOAT")}, {"block_shape", Shape{}}},
          .make = make};
}

}  // namespace tenfold::layers
