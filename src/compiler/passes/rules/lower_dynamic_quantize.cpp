// lower_dynamic_quantize: DynamicQuantizeLinear becomes two reductions and pointwise operators. For GPUs, which have no kernel for
// it.
//
// before: (x f32[2,3])
//   y, s, z = DynamicQuantizeLinear(x)
// after: (x f32[2,3])
//   none = f32[]{0.0}
//   one = f32[]{1.0}
//   most = f32[]{255.0}
//   a = ReduceMin(x) axes=[0,1] keepdims=0
//   low = Min(a, none)
//   b = ReduceMax(x) axes=[0,1] keepdims=0
//   high = Max(b, none)
//   span = Sub(high, low)
//   flat = Equal(span, none)
//   step = Div(span, most)
//   s = Where(flat, one, step)
//   c = Neg(low)
//   d = Div(c, s)
//   e = Round(d)
//   f = Max(e, none)
//   g = Min(f, most)
//   z = Cast(g) to="u8"
//   h = Div(x, s)
//   i = Round(h)
//   j = Add(i, g)
//   k = Max(j, none)
//   l = Min(k, most)
//   y = Cast(l) to="u8"
//   return y, s, z
//
// kept: (x f32[])
//   y, s, z = DynamicQuantizeLinear(x)
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Value;

bool try_lower(ir::Graph& graph, ir::Node& n) {
  if (n.op() != "DynamicQuantizeLinear" || n.body || n.in(0)->dtype() != DType::f32 || n.in(0)->rank() == 0) return false;
  for (const ir::Dim& d : n.in(0)->dims())
    if (d == ir::Dim(0)) return false;  // extremes of nothing are no numbers
  ir::Ints axes(static_cast<std::size_t>(n.in(0)->rank()));
  for (std::size_t d = 0; d < axes.size(); ++d) axes[d] = static_cast<std::int64_t>(d);
  const ir::Attributes over{{"axes", axes}, {"keepdims", 0}}, narrow{{"to", "u8"}};
  const auto make = [&](const char* op, std::vector<Value*> operands, const ir::Attributes& attributes = {}) {
    return graph.make(op, std::move(operands), attributes, &n);
  };
  Value *none = number(graph, 0), *one = number(graph, 1), *max = number(graph, 255);
  const auto clamped = [&](Value* v) { return make("Min", {make("Max", {v, none}), max}); };
  Value* low = make("Min", {make("ReduceMin", {n.in(0)}, over), none});  // zero has to be among the values that can be written
  Value* high = make("Max", {make("ReduceMax", {n.in(0)}, over), none});
  Value* span = make("Sub", {high, low});
  Value* scale = make("Where", {make("Equal", {span, none}), one, make("Div", {span, max})});
  Value* zero = clamped(make("Round", {make("Div", {make("Neg", {low}), scale})}));
  Value* y = clamped(make("Add", {make("Round", {make("Div", {n.in(0), scale})}), zero}));
  graph.replace_uses(n.out(0), make("Cast", {y}, narrow));
  graph.replace_uses(n.out(1), scale);
  graph.replace_uses(n.out(2), make("Cast", {zero}, narrow));
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_lower); }

}  // namespace

Pass pass_lower_dynamic_quantize() { return {.name = "lower_dynamic_quantize", .run = run}; }

}  // namespace tenfold::passes
