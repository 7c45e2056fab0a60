// lower_mean_variance: MeanVarianceNormalization becomes two means and pointwise operators. For GPUs, which have no kernel for it.
//
// before: (x f32[2,3,4])
//   y = MeanVarianceNormalization(x) axes=[0,2]
// after: (x f32[2,3,4])
//   least = f32[]{0.000000001}
//   m = ReduceMean(x) axes=[0,2]
//   d = Sub(x, m)
//   q = Mul(d, d)
//   v = ReduceMean(q) axes=[0,2]
//   s = Sqrt(v)
//   g = Add(s, least)
//   y = Div(d, g)
//
// kept: (x f16[2,3,4])
//   y = MeanVarianceNormalization(x) axes=[0,2]
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Value;

bool try_lower(ir::Graph& graph, ir::Node& n) {
  if (n.op() != "MeanVarianceNormalization" || n.body || n.out()->dtype() != DType::f32) return false;
  const ir::Ints axes = n.attributes.ints("axes");
  if (axes.empty()) return false;   // nothing is reduced then, where ReduceMean would reduce everything
  const ir::Attributes over{{"axes", axes}};
  const auto make = [&](const char* op, std::vector<Value*> operands, const ir::Attributes& attributes = {}) {
    return graph.make(op, std::move(operands), attributes, &n);
  };
  Value* apart = make("Sub", {n.in(0), make("ReduceMean", {n.in(0)}, over)});
  Value* variance = make("ReduceMean", {make("Mul", {apart, apart})}, over);
  Value* deviation = make("Add", {make("Sqrt", {variance}), number(graph, 1e-9f)});  // the operator's guard against zero
  graph.replace_uses(n.out(), make("Div", {apart, deviation}));
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_lower); }

}  // namespace

Pass pass_lower_mean_variance() { return {.name = "lower_mean_variance", .run = run}; }

}  // namespace tenfold::passes
