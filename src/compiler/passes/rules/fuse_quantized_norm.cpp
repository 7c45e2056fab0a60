// fuse_quantized_norm: a norm whose result is also read in int8 writes both: one step less, while the row is still in registers. For
// GPUs.
//
// before: (x f32[6,8], r f32[6,8], g f32[8]!, h f32[8]!)
//   y = SkipLayerNorm(g, h, x, _, r)
//   q = Region(y) body={(f32) %1=constant.f32(0.5) %2=div.f32(%0,%1) %3=cast.f8e4m3fn(%2) -> %3}
//   z = Relu(y)
//   return q, z
// after: (x f32[6,8], r f32[6,8], g f32[8]!, h f32[8]!)
//   y, q = SkipLayerNorm(g, h, x, _, r) quantized="f8e4m3fn" scale=0.5
//   z = Relu(y)
//   return q, z
//
// kept: (x f32[6,8], r f32[6,8], g f32[8]!, h f32[8]!)
//   y = SkipLayerNorm(g, h, x, _, r)
//   q = Region(y) body={(f32) %1=constant.f32(0.5) %2=add.f32(%0,%1) %3=cast.f8e4m3fn(%2) -> %3}
//   z = Relu(y)
//   return q, z
#include <algorithm>

#include "passes/bodies.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

struct Quantization {
  DType type = DType::u8;
  double scale = 1, zero = 0;
};

// What a body does that only quantizes: (cast,) divide by a number, (round, add a number,) saturate or cast to e4m3.
std::optional<Quantization> quantization_in(const ir::Body& body) {
  Quantization q;
  std::uint16_t current = 0;
  bool divided = false, rounded = false, done = false;
  const auto number = [&](std::uint16_t v) -> std::optional<double> {
    if (v < body.inputs.size() || body.code[v - body.inputs.size()].prim != ir::Prim::constant) return {};
    return body.code[v - body.inputs.size()].imm;
  };
  for (std::size_t k = 0; k < body.code.size(); ++k) {
    const ir::Instr& i = body.code[k];
    if (i.prim == ir::Prim::constant) continue;
    if (done || (i.a != current && !(i.prim == ir::Prim::add && i.b == current))) return {};
    const std::optional<double> other = ir::arity(i.prim) == 2 ? number(i.a == current ? i.b : i.a) : std::nullopt;
    const bool narrows =
        i.prim == ir::Prim::saturate ? rounded && bits(i.dtype) == 8 : i.prim == ir::Prim::cast && i.dtype == DType::f8e4m3fn && !rounded;
    if (i.prim == ir::Prim::cast && i.dtype == DType::f32 && !divided) {
      // f16 as it is stored
    } else if (i.prim == ir::Prim::div && other && !divided && i.dtype == DType::f32) {
      q.scale = *other, divided = true;
    } else if (i.prim == ir::Prim::round_even && divided && !rounded) {
      rounded = true;
    } else if (i.prim == ir::Prim::add && rounded && other && q.zero == 0) {
      q.zero = *other;
    } else if (narrows) {
      q.type = i.dtype, done = divided;
    } else {
      return {};
    }
    current = static_cast<std::uint16_t>(body.inputs.size() + k);
  }
  return done && body.outputs == std::vector<std::uint16_t>{current} ? std::optional(q) : std::nullopt;
}

bool try_fuse(ir::Graph& graph, ir::Node& n) {
  if (n.op() != "SkipLayerNorm" || n.outputs.size() != 1) return false;
  for (ir::Node* user : n.out()->users) {
    const std::optional<ir::Body> body = user->op() == "Region" && user->inputs.size() == 1 ? body_of(*user) : std::nullopt;
    const std::optional<Quantization> q = body ? quantization_in(*body) : std::nullopt;
    if (!q) continue;
    ir::Node both;
    both.def = n.def, both.name = n.name, both.numerics = n.numerics, both.inputs = n.inputs, both.attributes = n.attributes;
    both.attributes.set("quantized", std::string(name(q->type)));
    both.attributes.set("scale", static_cast<float>(q->scale));
    both.attributes.set("zero", static_cast<float>(q->zero));
    const ir::Node* made = graph.add(std::move(both), 2, &n);
    ir::Value* small = user->out();
    graph.replace_uses(n.out(), made->outputs[0]);
    graph.replace_uses(small, made->outputs[1]);
    return true;
  }
  return false;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* n : graph.node_list()) changed = try_fuse(graph, *n) || changed;
  return changed;
}

}  // namespace

Pass pass_fuse_quantized_norm() { return {.name = "fuse_quantized_norm", .run = run}; }

}  // namespace tenfold::passes
