// Norms that readers compute: who may, and with which constants.
#include "passes/deferred_norms.h"

#include <algorithm>

#include "ops/fold.h"

namespace tenfold::passes {

using ir::BodyBuilder;
using ir::Node;
using ir::Prim;
using ir::Value;

std::uint16_t wide(BodyBuilder& b, std::uint16_t v) { return b.type_of(v) == DType::f32 ? v : b.cast(v, DType::f32); }
std::uint16_t narrow(BodyBuilder& b, std::uint16_t v, DType type) { return type == DType::f32 ? v : b.cast(v, type); }

namespace {

bool reads_once(const Node& user, const Value* v) { return std::count(user.inputs.begin(), user.inputs.end(), v) == 1; }

}  // namespace

bool multiplies(const Node& user, const Value* v) {
  if (user.op() != "MatMul" || user.outputs.size() != 1 || user.in(0) != v || !reads_once(user, v) || !user.out()) return false;
  return user.in(1)->is_constant() && user.in(1)->rank() == 2 && user.in(1)->dtype() == v->dtype();
}
bool adds(const Node& user, const Value* v) { return user.op() == "GemmLayerNorm" && user.in(5) == v && reads_once(user, v); }

ir::Interval rows_of(const ir::Graph& graph, const Node& n) {
  const ir::Dims& dims = n.out()->dims();
  return ir::product(std::span(dims).first(dims.size() - 1)).bounds(graph.box());
}

Value* sum_of_rows(ir::Graph& graph, Value* a, Value* b) {
  if (!a || !b) return a ? a : b;
  BodyBuilder body({a->dtype(), b->dtype()});
  return ops::fold(graph, body.finish({body.binary(Prim::add, wide(body, 0), wide(body, 1))}), {a, b}, b->name);
}

std::vector<Value*> centered(ir::Graph& graph, Value* w, const DeferredNorm& norm) {
  Value matrix, shift;
  matrix.name = w->name + "_centered", shift.name = w->name + "_shift";
  Node node;
  node.def = &graph.registry().get("CenterWeights"), node.inputs = {w, norm.scale, norm.bias}, node.outputs = {&matrix, &shift};
  return ops::fold(graph, node);
}

void append_epilogue(const Node& n, ir::Body body, Node& product) {
  if (n.body) {
    std::vector<int> links(n.body->inputs.size(), -1);
    links[0] = body.outputs[0];
    body = ir::compose(body, *n.body, links);
  }
  for (std::size_t i = n.body ? static_cast<std::size_t>(n.anchor_inputs) : n.inputs.size(); i < n.inputs.size(); ++i)
    product.inputs.push_back(n.inputs[i]);
  product.body = std::move(body);
}

}  // namespace tenfold::passes
