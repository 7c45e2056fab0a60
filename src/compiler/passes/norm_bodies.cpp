// Writing out what Softmax, LogSoftmax, LayerNormalization and RMSNormalization compute, in f32 whatever their operands are.
#include "passes/norm_bodies.h"

namespace tenfold::passes {
namespace {

using ir::Prim;

// Appends instructions in f32; a BodyBuilder does not know of reductions before it ends.
struct Code {
  ir::Body body;
  std::uint16_t emit(Prim prim, std::uint16_t a, std::uint16_t b = 0, DType to = DType::f32, double imm = 0) {
    body.code.push_back({.prim = prim, .dtype = to, .a = a, .b = b, .imm = imm});
    return static_cast<std::uint16_t>(body.value_count() - 1);
  }
  std::uint16_t constant(double value) { return emit(Prim::constant, 0, 0, DType::f32, value); }
  std::uint16_t widened(std::uint16_t v) { return body.type_of(v) == DType::f32 ? v : emit(Prim::cast, v); }
};

std::uint16_t softmax(Code& c, std::uint16_t x, bool logarithm) {
  const std::uint16_t apart = c.emit(Prim::sub, x, c.emit(Prim::reduce_max, x)), e = c.emit(Prim::exp, apart);
  const std::uint16_t sum = c.emit(Prim::reduce_sum, e);
  return logarithm ? c.emit(Prim::sub, apart, c.emit(Prim::log, sum)) : c.emit(Prim::mul, e, c.emit(Prim::reciprocal, sum));
}

std::uint16_t norm(Code& c, std::uint16_t x, bool centered, double length, double epsilon) {
  const std::uint16_t share = c.constant(1 / length);
  if (centered) x = c.emit(Prim::sub, x, c.emit(Prim::mul, c.emit(Prim::reduce_sum, x), share));
  const std::uint16_t mean = c.emit(Prim::mul, c.emit(Prim::reduce_sum, c.emit(Prim::mul, x, x)), share);
  return c.emit(Prim::mul, x, c.emit(Prim::rsqrt, c.emit(Prim::add, mean, c.constant(epsilon))));
}

bool is_short_float(DType t) { return t == DType::f32 || t == DType::f16 || t == DType::bf16; }

}  // namespace

std::optional<ir::Body> norm_body(const ir::Node& n) {
  const bool softmaxes = n.op() == "Softmax" || n.op() == "LogSoftmax", centered = n.op() == "LayerNormalization";
  if ((!softmaxes && !centered && n.op() != "RMSNormalization") || n.outputs.size() != 1) return std::nullopt;
  for (const ir::Value* v : n.inputs)
    if (!v) return std::nullopt;
  const ir::Dims& dims = n.in(0)->dims();
  if (n.out()->dims() != dims) return std::nullopt;   // longer rows would be reduced
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (rank == 0) return std::nullopt;
  const std::int64_t axis = (n.attributes.integer("axis", -1) + rank) % rank;
  const ir::Dims row(dims.begin() + axis, dims.end());
  if ((softmaxes && axis != rank - 1) || !ir::is_constant(row) || ir::product(row).constant() < 2) return std::nullopt;
  const std::size_t own = n.body ? static_cast<std::size_t>(n.anchor_inputs) : n.inputs.size();
  std::vector<DType> types;
  for (std::size_t i = 0; i < own; ++i) {
    types.push_back(n.in(static_cast<int>(i))->dtype());
    if (!is_short_float(types.back()) || (i > 0 && n.in(static_cast<int>(i))->dims() != row)) return std::nullopt;
  }
  Code c{.body = {.inputs = types, .code = {}, .outputs = {}, .reduced_rank = static_cast<int>(rank - axis)}};
  std::uint16_t y = c.widened(0);
  if (softmaxes) y = softmax(c, y, n.op() == "LogSoftmax");
  else y = norm(c, y, centered, static_cast<double>(ir::product(row).constant()), static_cast<double>(n.attributes.number("epsilon")));
  if (own > 1) y = c.emit(Prim::mul, y, c.widened(1));
  if (own > 2) y = c.emit(Prim::add, y, c.widened(2));
  const DType requested = n.body ? n.body->inputs[0] : n.out()->dtype();
  if (!is_short_float(requested)) return std::nullopt;
  if (requested != DType::f32) y = c.emit(Prim::cast, y, 0, requested);
  c.body.outputs = {y};
  const ir::Body& body = c.body;
  if (!n.body) return body;
  std::vector<int> links(n.body->inputs.size(), -1);
  links[0] = body.outputs[0];
  return ir::simplify(ir::compose(body, *n.body, links));
}

std::optional<ir::Body> group_norm_nhwc_body(const ir::Node& n, std::int64_t length) {
  Code c{.body = {.inputs = {}, .code = {}, .outputs = {}, .reduced_rank = 2}};
  for (const ir::Value* v : n.inputs) {
    if (!v || !is_short_float(v->dtype())) return std::nullopt;
    c.body.inputs.push_back(v->dtype());
  }
  if (c.body.inputs.size() != 3) return std::nullopt;
  std::uint16_t y = norm(c, c.widened(0), true, static_cast<double>(length), static_cast<double>(n.attributes.number("epsilon")));
  y = c.emit(Prim::mul, y, c.widened(1));
  y = c.emit(Prim::add, y, c.widened(2));
  if (n.out()->dtype() != DType::f32) y = c.emit(Prim::cast, y, 0, n.out()->dtype());
  c.body.outputs = {y};
  return c.body;
}

}  // namespace tenfold::passes
