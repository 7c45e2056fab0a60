// merge_gemms: GEMMs of one matrix with several constant ones (queries, keys and values) become one GEMM with the weights side by
// side, and a Split whose results are views. Epilogues are merged; scalars in which they differ become vectors. The tuner undoes it
// where that is faster (tune/choice/unmerge.cpp).
//
// before: (x f32[6,8], w f32[8,4]!, b f32[4]!, u f32[8,2]!, c f32[2]!)
//   p = MatMul(x, w, b) anchor_inputs=2 body={(f32,f32) %2=add.f32(%0,%1) -> %2}
//   q = MatMul(x, u, c) anchor_inputs=2 body={(f32,f32) %2=add.f32(%0,%1) -> %2}
//   y = Softmax(p)
//   z = Softmax(q)
//   return y, z
// after: (x f32[6,8], w f32[8,4]!, b f32[4]!, u f32[8,2]!, c f32[2]!)
//   sizes = i64[2]{4,2}
//   wu = Concat(w, u) axis=1
//   bc = Concat(b, c) axis=0
//   pq = MatMul(x, wu, bc) anchor_inputs=2 body={(f32,f32) %2=add.f32(%0,%1) -> %2}
//   p, q = Split(pq, sizes) axis=-1
//   y = Softmax(p)
//   z = Softmax(q)
//   return y, z
//
// before: (x i8[6,8], zero i8[]!, w i8[8,4]!, u i8[8,4]!)
//   p = MatMulInteger(x, w, zero) anchor_inputs=3 body={(i32) %1=cast.f32(%0) %2=constant.f32(0.5) %3=mul.f32(%1,%2) -> %3}
//   q = MatMulInteger(x, u, zero) anchor_inputs=3 body={(i32) %1=cast.f32(%0) %2=constant.f32(0.25) %3=mul.f32(%1,%2) -> %3}
//   y = Softmax(p)
//   z = Softmax(q)
//   return y, z
// after: (x i8[6,8], zero i8[]!, w i8[8,4]!, u i8[8,4]!)
//   sizes = i64[2]{4,4}
//   by = f32[8]{0.5,0.5,0.5,0.5,0.25,0.25,0.25,0.25}
//   wu = Concat(w, u) axis=1
//   pq = MatMulInteger(x, wu, zero, by) anchor_inputs=3 body={(i32,f32) %2=cast.f32(%0) %3=mul.f32(%2,%1) -> %3}
//   p, q = Split(pq, sizes) axis=-1
//   y = Softmax(p)
//   z = Softmax(q)
//   return y, z
//
// before: (x f32[6,32], w i4[32,4]!, s f32[2,4]!, u i4[32,2]!, t f32[2,2]!)
//   p = MatMulBlockScaled(x, w, s) block_size=16
//   q = MatMulBlockScaled(x, u, t) block_size=16
//   y = Softmax(p)
//   z = Softmax(q)
//   return y, z
// after: (x f32[6,32], w i4[32,4]!, s f32[2,4]!, u i4[32,2]!, t f32[2,2]!)
//   sizes = i64[2]{4,2}
//   wu = Concat(w, u) axis=1
//   st = Concat(s, t) axis=1
//   pq = MatMulBlockScaled(x, wu, st) block_size=16
//   p, q = Split(pq, sizes) axis=-1
//   y = Softmax(p)
//   z = Softmax(q)
//   return y, z
//
// kept: (x f32[6,8], w f32[8,4]!, u f32[8,4]!)
//   p = MatMul(x, w) anchor_inputs=2 body={(f32) %1=neg.f32(%0) -> %1}
//   q = MatMul(x, u) anchor_inputs=2 body={(f32) %1=abs.f32(%0) -> %1}
//   y = Softmax(p)
//   z = Softmax(q)
//   return y, z
#include <algorithm>

#include "ops/matmul/is_matmul.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;
using Nodes = std::vector<Node*>;

bool mergeable(const ir::Graph& graph, const Node& n) {
  if (!ops::is_matmul(n) || n.outputs.size() != 1 || n.in(0)->rank() < 2 || graph.is_output(n.out())) return false;
  const Value* w = n.in(1);
  return w->is_constant() && w->rank() == 2 && n.out()->rank() == n.in(0)->rank();
}
int own_inputs(const Node& n) { return n.anchor_inputs >= 0 ? n.anchor_inputs : static_cast<int>(n.inputs.size()); }
std::int64_t width(const Node& n) { return n.in(1)->dims()[1].constant(); }

// The same operand for both: one value, or equal numbers. Zero points that differ stay apart.
bool same_operand(const Value* a, const Value* b) {
  if (a == b) return true;
  if (!a || !b || a->dtype() != b->dtype()) return false;
  const auto x = scalar_of(a), y = scalar_of(b);
  return x && y && *x == *y;
}
// An epilogue operand that holds one number for each column.
bool by_column(const Value* v, std::int64_t columns) {
  return v->is_constant() && v->rank() >= 1 && v->dims().back() == ir::Dim(columns) && v->constant->tensor.size() == columns;
}

// Scales and zero points of weights, which lie by block and column.
bool by_block(const Node& n, int i) {
  return n.op() == "MatMulBlockScaled" && i >= 2 && n.in(i) && n.in(i)->is_constant() && n.in(i)->rank() == 2;
}

// Do the epilogues do the same, up to numbers and vectors?
bool alike(const Node& a, const Node& b) {
  if (a.op() != b.op() || a.in(0) != b.in(0) || ir::text(a.attributes) != ir::text(b.attributes) || a.numerics != b.numerics ||
      a.in(1)->dtype() != b.in(1)->dtype() ||
      own_inputs(a) != own_inputs(b))
    return false;
  if (a.body.has_value() != b.body.has_value() || a.inputs.size() != b.inputs.size()) return false;
  for (int i = 2; i < own_inputs(a); ++i) {
    if (by_block(a, i) && by_block(b, i) && a.in(i)->dtype() == b.in(i)->dtype()) continue;
    if (!same_operand(a.in(i), b.in(i)) || (a.in(i) && !scalar_of(a.in(i)) && i == 3)) return false;
  }
  for (int i = own_inputs(a); i < static_cast<int>(a.inputs.size()); ++i) {
    const bool columns = by_column(a.in(i), width(a)) && by_column(b.in(i), width(b)) && a.in(i)->rank() == b.in(i)->rank();
    if (!columns && !(same_operand(a.in(i), b.in(i)) && (a.in(i)->rank() == 0 || a.in(i)->dims().back() == ir::Dim(1)))) return false;
  }
  if (!a.body) return true;
  if (a.body->inputs != b.body->inputs || a.body->outputs != b.body->outputs || a.body->code.size() != b.body->code.size()) return false;
  for (std::size_t k = 0; k < a.body->code.size(); ++k) {
    ir::Instr x = a.body->code[k];
    if (x.prim == ir::Prim::constant) x.imm = b.body->code[k].imm;
    if (!(x == b.body->code[k])) return false;
  }
  return true;
}

// The common epilogue: constants in which the nodes differ become inputs behind the others; `differ` lists their instructions.
ir::Body lifted(const Nodes& nodes, std::vector<std::size_t>& differ) {
  ir::Body body = *nodes[0]->body;
  for (std::size_t k = 0; k < body.code.size(); ++k) {
    const auto other = [&](const Node* n) { return n->body->code[k].imm != body.code[k].imm; };
    if (body.code[k].prim == ir::Prim::constant && std::any_of(nodes.begin(), nodes.end(), other)) differ.push_back(k);
  }
  const std::size_t inputs = body.inputs.size();
  std::vector<std::uint16_t> number;
  for (std::size_t v = 0; v < inputs; ++v) number.push_back(static_cast<std::uint16_t>(v));
  std::vector<ir::Instr> code;
  for (std::size_t k = 0, lift = 0; k < body.code.size(); ++k) {
    if (lift < differ.size() && differ[lift] == k) {
      number.push_back(static_cast<std::uint16_t>(inputs + lift++));
      body.inputs.push_back(body.code[k].dtype);
      continue;
    }
    number.push_back(static_cast<std::uint16_t>(inputs + differ.size() + code.size()));
    ir::Instr i = body.code[k];
    const int n = ir::arity(i.prim);
    if (n > 0) i.a = number[i.a];
    if (n > 1) i.b = number[i.b];
    if (n > 2) i.c = number[i.c];
    code.push_back(i);
  }
  body.code = std::move(code);
  for (std::uint16_t& out : body.outputs) out = number[out];
  return body;
}

Value* vector_of_numbers(ir::Graph& graph, const Nodes& nodes, std::size_t instruction) {
  Tensor t(DType::f32, {0});
  std::vector<float> values;
  for (const Node* n : nodes)
    values.insert(values.end(), static_cast<std::size_t>(width(*n)), static_cast<float>(n->body->code[instruction].imm));
  t = Tensor(DType::f32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<float>());
  return graph.add_constant(std::move(t), nodes[0]->name + "_by");
}

Value* side_by_side(ir::Graph& graph, const Nodes& nodes, int input, Node* before) {
  std::vector<Value*> parts;
  for (const Node* n : nodes) parts.push_back(n->in(input));
  return graph.make("Concat", parts, {{"axis", std::int64_t{parts[0]->rank() - 1}}}, before);
}

void merge(ir::Graph& graph, const Nodes& nodes) {
  Node& first = *nodes[0];
  const int own = own_inputs(first);
  Node all;
  all.def = first.def, all.attributes = first.attributes, all.name = first.name, all.numerics = first.numerics;
  all.inputs = first.inputs;
  all.inputs[1] = side_by_side(graph, nodes, 1, &first);
  for (int i = 2; i < own; ++i)
    if (by_block(first, i)) all.inputs[static_cast<std::size_t>(i)] = side_by_side(graph, nodes, i, &first);
  for (int i = own; i < static_cast<int>(first.inputs.size()); ++i)
    if (by_column(first.in(i), width(first))) all.inputs[static_cast<std::size_t>(i)] = side_by_side(graph, nodes, i, &first);
  if (first.body) {
    std::vector<std::size_t> differ;
    all.body = lifted(nodes, differ);
    all.anchor_inputs = own;
    for (std::size_t k : differ) all.inputs.push_back(vector_of_numbers(graph, nodes, k));
  }
  Tensor sizes(DType::i64, {static_cast<std::int64_t>(nodes.size())});
  for (std::size_t i = 0; i < nodes.size(); ++i) sizes.mutable_data<std::int64_t>()[i] = width(*nodes[i]);
  Value* product = graph.add(std::move(all), 1, &first)->out();
  const Node* split = graph.add("Split", {product, graph.add_constant(std::move(sizes))}, {{"axis", std::int64_t{-1}}},
                                static_cast<int>(nodes.size()), first.name + "_split", &first);
  for (std::size_t i = 0; i < nodes.size(); ++i) graph.replace_uses(nodes[i]->out(), split->outputs[i]);
}

// Constants that differ are lifted only where a float holds them.
bool liftable(const Node& n) {
  return !n.body || std::all_of(n.body->code.begin(), n.body->code.end(),
                                [](const ir::Instr& i) { return i.prim != ir::Prim::constant || i.dtype == DType::f32; });
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) {
    if (n->out() == nullptr || n->out()->users.empty() || !mergeable(graph, *n)) continue;
    Nodes nodes{n};
    for (Node* user : n->in(0)->users)   // in order of the graph's making: the same every time
      if (std::find(nodes.begin(), nodes.end(), user) == nodes.end() && !user->out()->users.empty() && mergeable(graph, *user) &&
          alike(*n, *user) && liftable(*user))
        nodes.push_back(user);
    if (nodes.size() < 2 || !liftable(*n)) continue;
    merge(graph, nodes);
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_merge_gemms() { return {.name = "merge_gemms", .run = run}; }

}  // namespace tenfold::passes
