// widen_at_reader: a GEMM that ends by quantizing to int8 and dequantizes at once, for a sum in another GEMM's epilogue, leaves
// dequantization to that epilogue: memory holds int8. For GPUs, whose epilogues read int8 like other operands.
//
// before: (x u8[8,32], w i8[32,16]!, z u8[8,64], v i8[64,16]!)
//   s = MatMulInteger(x, w) anchor_inputs=2 body={(i32) %1=cast.f32(%0) %2=saturate.i8(%1) %3=cast.f32(%2) %4=constant.f32(0.5)
//   %5=mul.f32(%3,%4) -> %5} y = MatMulInteger(z, v, s) anchor_inputs=2 body={(i32,f32) %2=cast.f32(%0) %3=add.f32(%2,%1) -> %3}
// after: (x u8[8,32], w i8[32,16]!, z u8[8,64], v i8[64,16]!)
//   s = MatMulInteger(x, w) anchor_inputs=2 body={(i32) %1=cast.f32(%0) %2=saturate.i8(%1) -> %2}
//   y = MatMulInteger(z, v, s) anchor_inputs=2 body={(i32,i8) %2=cast.f32(%1) %3=constant.f32(0.5) %4=mul.f32(%2,%3) %5=cast.f32(%0)
//   %6=add.f32(%5,%4) -> %6}
//
// kept: (x u8[8,32], w i8[32,16]!, z u8[8,64], v i8[64,16]!)
//   s = MatMulInteger(x, w) anchor_inputs=2 body={(i32) %1=cast.f32(%0) %2=saturate.i8(%1) %3=cast.f32(%2) -> %3}
//   y = MatMulInteger(z, v, s) anchor_inputs=2 body={(i32,f32) %2=cast.f32(%0) %3=add.f32(%2,%1) -> %3}
//   u = Relu(s)
//   return y, u
#include <algorithm>

#include "passes/bodies.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Instr;
using ir::Prim;

bool is_anchor(const ir::Node& n) { return n.outputs.size() == 1 && n.def->traits.anchor && n.body && n.anchor_inputs >= 0; }
bool is_narrow(DType type) { return type == DType::i8 || type == DType::u8 || type == DType::f8e4m3fn; }

struct Split {
  ir::Body narrow, widening;   // the first gives 8 bits, of which the second makes the result
};

// Nothing if the body does not end in casts of 8 bits that it computed, and arithmetic with numbers.
std::optional<Split> split(const ir::Body& body) {
  const auto inputs = static_cast<int>(body.inputs.size());
  const auto at = [&](int v) { return body.code[static_cast<std::size_t>(v - inputs)]; };
  const auto is_number = [&](int v) { return v >= inputs && at(v).prim == Prim::constant; };
  std::vector<Instr> chain;   // the last first
  int v = body.outputs[0];
  for (; v >= inputs && !is_narrow(body.type_of(v)); v = is_number(chain.back().a) ? chain.back().b : chain.back().a) {
    const Instr i = at(v);
    const bool scales = i.prim == Prim::mul || i.prim == Prim::sub || i.prim == Prim::add;
    if (i.prim != Prim::cast && !(scales && is_number(i.a) != is_number(i.b))) return {};
    chain.push_back(i);
  }
  if (v < inputs || chain.empty()) return {};
  ir::BodyBuilder b({body.type_of(v)});
  std::uint16_t current = 0;
  for (auto i = chain.rbegin(); i != chain.rend(); ++i) {
    Instr moved = *i;
    const auto operand = [&](std::uint16_t x) { return is_number(x) ? b.constant(at(x).dtype, at(x).imm) : current; };
    if (ir::arity(moved.prim) > 1) moved.b = operand(i->b);
    moved.a = operand(i->a);
    current = b.emit(moved);
  }
  Split parts{body, b.finish({current})};
  parts.narrow.outputs[0] = static_cast<std::uint16_t>(v);
  parts.narrow = ir::simplify(parts.narrow);
  return parts;
}

bool rule(ir::Graph& graph, ir::Node& n) {
  if (!is_anchor(n) || is_narrow(n.out()->dtype())) return false;
  ir::Node* reader = only_user(graph, n.out());
  if (!reader || !is_anchor(*reader) || std::count(reader->inputs.begin(), reader->inputs.end(), n.out()) != 1) return false;
  const auto place = static_cast<int>(std::find(reader->inputs.begin(), reader->inputs.end(), n.out()) - reader->inputs.begin());
  const std::optional<Split> parts = place >= reader->anchor_inputs ? split(*n.body) : std::nullopt;
  if (!parts) return false;
  ir::Node small;
  small.def = n.def, small.attributes = n.attributes, small.name = n.name, small.numerics = n.numerics;
  small.inputs = n.inputs, small.anchor_inputs = n.anchor_inputs, small.body = parts->narrow;
  ir::Value* bytes = graph.add(std::move(small), 1, &n)->out();
  reader->body = feed(*reader->body, place - reader->anchor_inputs + 1, parts->widening);
  graph.set_input(*reader, place, bytes);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, rule); }

}  // namespace

Pass pass_widen_at_reader() { return {.name = "widen_at_reader", .run = run}; }

}  // namespace tenfold::passes
