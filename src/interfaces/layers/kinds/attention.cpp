// IAttention: query [batch, heads, places, size], key and value of as many heads or a divisor of that. Products are not scaled. Operand 3:
// a mask, of booleans that keep or of numbers that are added; operand 4: the scale by which the weights of the places are quantized.
// CAUSAL: place i sees the places up to i.
#include <limits>

#include "layers/layer.h"

namespace tenfold::layers {
namespace {

// The same in products of matrices: weights that are no softmax, or are quantized between.
NetworkTensor in_parts(const LayerCall& call, bool softmax, bool causal) {
  const NetworkTensor query = call.in(0), key = call.in(1);
  const NetworkDim heads = call.net.dims(query)[1], keys = call.net.dims(key)[1];
  if (heads.name != keys.name || heads.extent != keys.extent)
    call.refuse(ErrorKind::unsupported, "heads that share keys need SOFTMAX that is not quantized");
  NetworkTensor weights = call.node("MatMul", {query, call.node("Transpose", {key}, {{"perm", Shape{0, 1, 3, 2}}})});
  const DType type = call.net.dtype(weights);
  NetworkTensor mask = call.maybe(3);
  if (causal) {
    const NetworkTensor rows = call.node("Unsqueeze", {call.places(query, 2), call.integers({1})});
    mask = call.node("LessOrEqual", {call.places(key, 2), rows});
  }
  if (mask.defined() && call.net.dtype(mask) == DType::boolean)
    weights = call.node("Where", {mask, weights, call.scalar(type, softmax ? -std::numeric_limits<float>::infinity() : 0.0f)});
  else if (mask.defined())
    weights = call.node("Add", {weights, mask});
  if (softmax) weights = call.node("Softmax", {weights}, {{"axis", std::int64_t{-1}}});
  if (call.has(4)) {
    const std::string& to = call.text("normalization_quantize_to_type");
    if (to != "FP8" && to != "INT8") call.refuse("normalization_quantize_to_type is '" + to + "', FP8 or INT8 was expected");
    const NetworkTensor scale = call.in(4), zero = call.net.constant(Tensor(dtype_of(call, to), call.known_shape(4, "a scale")));
    weights = call.node("DequantizeLinear", {call.node("QuantizeLinear", {weights, scale, zero}), scale, zero});
  }
  return call.node("MatMul", {weights, call.in(2)});
}

Network::Tensors make(const LayerCall& call) {
  for (int i = 0; i < 3; ++i)
    if (call.rank(i) != 4)
      call.refuse("query, key and value are [batch, heads, places, size]; operand " + std::to_string(i) + " is " +
                  call.net.describe(call.in(i)));
  const bool softmax = call.choice("norm_op", {"NONE", "SOFTMAX"}) == 1, causal = call.flag("causal");
  if (causal && call.has(3)) call.refuse("causal and a mask exclude each other");
  if (!softmax || call.has(4)) return {in_parts(call, softmax, causal)};
  return {call.node("Attention", {call.in(0), call.in(1), call.in(2), call.maybe(3)},
                    {{"scale", 1.0f}, {"is_causal", std::int64_t{causal}}})};
}

}  // namespace

LayerKind layer_attention() {
  return {.name = "attention",
          .min_inputs = 3,
          .max_inputs = 5,
          .options = {{"norm_op", std::string("SOFTMAX")},
                      {"causal", std::int64_t{0}},
                      {"decomposable", std::int64_t{0}},   // asks for nothing: what no kernel fuses is always taken apart
                      {"normalization_quantize_to_type", std::string("FLOAT")}},
          .make = make};
}

}  // namespace tenfold::layers
