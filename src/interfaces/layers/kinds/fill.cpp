// IFillLayer. LINSPACE: alpha + beta * i, in whole numbers where alpha_int64 and beta_int64 are; in several dims beta is operand 2, a
// number for each. RANDOM_UNIFORM: from alpha to beta; RANDOM_NORMAL: mean alpha, deviation beta. The shape is the option, or operand 0; of
// LINSPACE, alpha and beta may be operands 1 and 2.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

std::int64_t dims_of_result(const LayerCall& call) {
  if (!call.has(0)) return static_cast<std::int64_t>(call.list("shape").size());
  const auto dims = call.net.dims(call.in(0));
  if (dims.size() > 1 || (dims.size() == 1 && !dims[0].name.empty()))
    call.refuse("operand 0 has to be a shape: one dim of as many numbers as the result has dims");
  return dims.empty() ? 1 : dims[0].extent;
}

NetworkTensor line(const LayerCall& call, DType type) {
  const std::int64_t rank = dims_of_result(call);
  if (rank < 1) call.refuse("LINSPACE needs a dim or more");
  if (rank > 1 && !call.has(2)) call.refuse("LINSPACE in " + std::to_string(rank) + " dims needs beta as operand 2, a number for each dim");
  const NetworkTensor none = call.integers({});
  const auto extent_of = [&](std::int64_t d) {
    if (!call.has(0)) return call.integer(call.list("shape")[static_cast<std::size_t>(d)]);
    const NetworkTensor list = call.node("Reshape", {call.as_i64(call.in(0)), call.integers({rank})});
    return call.node("Gather", {list, call.integer(d)});
  };
  const auto places_of = [&](std::int64_t d) {
    return call.cast(call.node("Range", {call.integer(0), extent_of(d), call.integer(1)}), type);
  };
  const auto given = [&](int operand, const char* option) {
    if (const Shape& whole = call.list((std::string(option) + "_int64").c_str()); !call.has(operand) && whole.size() == 1)
      return type == DType::i64 ? call.integer(whole[0]) : call.cast(call.integer(whole[0]), type);
    return call.has(operand) ? call.node("Reshape", {call.cast(call.in(operand), type), none}) : call.scalar(type, call.real(option));
  };
  if (rank == 1) return call.node("Add", {call.node("Mul", {places_of(0), given(2, "beta")}), given(1, "alpha")});
  const NetworkTensor steps = call.node("Reshape", {call.cast(call.in(2), type), call.integers({rank})});
  NetworkTensor sum = given(1, "alpha");
  for (std::int64_t d = 0; d < rank; ++d) {
    Shape others;   // dims that the places of this one are the same along
    for (std::int64_t other = 0; other < rank; ++other)
      if (other != d) others.push_back(other);
    const NetworkTensor places = call.node("Unsqueeze", {places_of(d), call.integers(others)});
    sum = call.node("Add", {sum, call.node("Mul", {places, call.node("Gather", {steps, call.integer(d)})})});
  }
  return sum;
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
