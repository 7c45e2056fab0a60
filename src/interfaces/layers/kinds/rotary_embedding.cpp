// IRotaryEmbeddingLayer: x [batch, heads, places, size], cosines and sines [batch, places, size / 2], or tables of them and, as operand 3,
// places [batch, places] to look up. rotary_embedding_dim: of the size, what is turned; 0: all.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  if (call.rank(0) != 4) call.refuse("[batch, heads, places, size] was expected, the input is " + call.net.describe(call.in(0)));
  const NetworkTensor places = call.has(3) ? call.as_i64(call.in(3)) : NetworkTensor{};
  return {call.node("RotaryEmbedding", {call.in(0), call.in(1), call.in(2), places},
                    {{"interleaved", call.number("interleaved")}, {"rotary_embedding_dim", call.number("rotary_embedding_dim")}})};
}

}  // namespace

LayerKind layer_rotary_embedding() {
  return {.name = "rotary_embedding",
          .min_inputs = 3,
          .max_inputs = 4,
          .options = {{"interleaved", std::int64_t{0}}, {"rotary_embedding_dim", std::int64_t{0}}},
          .make = make};
}

}  // namespace tenfold::layers
