// IFillLayer. LINSPACE: alpha + beta * i, in one dim, in whole numbers where alpha_int64 and beta_int64 are; RANDOM_UNIFORM: from alpha to
// beta; RANDOM_NORMAL: mean alpha, deviation beta. The shape is the option, or operand 0; of LINSPACE, alpha and beta may be operands 1
// and 2.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

NetworkTensor line(const LayerCall& call, DType type) {
  const Shape& shape = call.list("shape");
  if (!call.has(0) && shape.size() != 1) call.refuse(ErrorKind::unsupported, "LINSPACE has one dim here");
  const NetworkTensor none = call.integers({});
  const NetworkTensor count = call.has(0) ? call.node("Reshape", {call.as_i64(call.in(0)), none}) : call.integer(shape[0]);
  const NetworkTensor places = call.cast(call.node("Range", {call.integer(0), count, call.integer(1)}), type);
  const auto given = [&](int operand, const char* option) {
    if (const Shape& whole = call.list((std::string(option) + "_int64").c_str()); !call.has(operand) && whole.size() == 1)
      return type == DType::i64 ? call.integer(whole[0]) : call.cast(call.integer(whole[0]), type);
    return call.has(operand) ? call.node("Reshape", {call.cast(call.in(operand), type), none}) : call.scalar(type, call.real(option));
  };
  return call.node("Add", {call.node("Mul", {places, given(2, "beta")}), given(1, "alpha")});
}

Network::Tensors make(const LayerCall& call) {
  const DType type = dtype_of(call, call.text("to_type"));
  const std::size_t op = call.choice("operation", {"LINSPACE", "RANDOM_UNIFORM", "RANDOM_NORMAL"});
  if (op == 0) return {line(call, type)};
  if (call.has(0)) call.refuse(ErrorKind::unsupported, "random numbers need their shape as numbers");
  const bool uniform = op == 1;
  const NetworkTensor y = call.node(
      uniform ? "RandomUniform" : "RandomNormal", {},
      {{"shape", call.list("shape")}, {uniform ? "low" : "mean", call.real("alpha")}, {uniform ? "high" : "scale", call.real("beta")}});
  return {type == DType::f32 ? y : call.cast(y, type)};
}

}  // namespace

LayerKind layer_fill() {
  return {.name = "fill",
          .min_inputs = 0,
          .max_inputs = 3,
          .options = {{"shape", Shape{}},
                      {"operation", std::string("LINSPACE")},
                      {"alpha", 0.0f},
                      {"beta", 1.0f},
                      {"alpha_int64", Shape{}},
                      {"beta_int64", Shape{}},
                      {"to_type", std::string("FLOAT")}},
          .make = make};
}

}  // namespace tenfold::layers
