// IElementWiseLayer.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  static constexpr const char* kOps[] = {"Add", "Mul", "Max", "Min", "Sub", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less"};
  const NetworkTensor a = call.in(0), b = call.in(1);
  const std::size_t which =
      call.choice("op", {"SUM", "PROD", "MAX", "MIN", "SUB", "DIV", "POW", "AND", "OR", "XOR", "EQUAL", "GREATER", "LESS", "FLOOR_DIV"});
  if (which < std::size(kOps)) return {call.node(kOps[which], {a, b})};
  if (is_float(call.dtype(0))) return {call.node("Floor", {call.node("Div", {a, b})})};
  // ONNX's Mod has the divisor's sign, as Python's: without it the division is exact, and rounds down.
  return {call.node("Div", {call.node("Sub", {a, call.node("Mod", {a, b})}), b})};
}

}  // namespace

LayerKind layer_elementwise() {
  return {.name = "elementwise", .min_inputs = 2, .max_inputs = 2, .options = {{"op", std::string("SUM")}}, .make = make};
}

}  // namespace tenfold::layers
