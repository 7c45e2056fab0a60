// fuse_norm: LayerNorm and RMSNorm written out in pieces become one node (Ba et al. 2016; Zhang and Sennrich 2019).
//
// before: (x f32[2,3,8], w f32[8]!, b f32[8]!)
//   two = f32[]{2.0}
//   eps = f32[]{0.00001}
//   m = ReduceMean(x) axes=[-1]
//   d = Sub(x, m)
//   q = Pow(d, two)
//   v = ReduceMean(q) axes=[-1]
//   e = Add(v, eps)
//   s = Sqrt(e)
//   n = Div(d, s)
//   g = Mul(n, w)
//   y = Add(g, b)
// after: (x f32[2,3,8], w f32[8]!, b f32[8]!)
//   y = LayerNormalization(x, w, b) epsilon=0.00001
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

bool over_last_axis(const Node& mean) {
  const ir::Ints axes = mean.attributes.ints("axes", {});
  return axes.size() == 1 && (axes[0] == -1 || axes[0] == mean.in(0)->rank() - 1) && mean.attributes.integer("keepdims", 1) == 1;
}

Value* squared(const Value* v) {   // x, if v = x^2 or x*x
  if (Node* pow = made_by(v, "Pow")) return is_scalar(pow->in(1), 2) ? pow->in(0) : nullptr;
  Node* mul = made_by(v, "Mul");
  return mul && mul->in(0) == mul->in(1) ? mul->in(0) : nullptr;
}

// v = sqrt(mean(x^2) + epsilon): gives x.
Value* root_mean_square(const Value* v, double& epsilon) {
  Node* root = made_by(v, "Sqrt");
  Node* add = root ? made_by(root->in(0), "Add") : nullptr;
  for (int side = 0; add && side < 2; ++side) {
    Node* mean = made_by(add->in(side), "ReduceMean");
    const auto e = scalar_of(add->in(1 - side));
    if (!mean || !e || !over_last_axis(*mean)) continue;
    epsilon = *e;
    return squared(mean->in(0));
  }
  return nullptr;
}

// n = x / rms(x) or x * (1 / rms(x)): gives x, the vector that was divided by its own root mean square.
Value* normalised(const Node& n, double& epsilon) {
  if (n.op() == "Div") return root_mean_square(n.in(1), epsilon) == n.in(0) ? n.in(0) : nullptr;
  if (n.op() != "Mul") return nullptr;
  for (int side = 0; side < 2; ++side) {
    Node* inverse = made_by(n.in(side), "Reciprocal");
    Value* root = inverse ? inverse->in(0) : nullptr;
    if (!inverse) {   // 1 / sqrt
      Node* div = made_by(n.in(side), "Div");
      if (div && is_scalar(div->in(0), 1)) root = div->in(1);
    }
    if (root && root_mean_square(root, epsilon) == n.in(1 - side)) return n.in(1 - side);
  }
  return nullptr;
}

bool is_vector(const Value* v, ir::Dim length) { return v && v->rank() == 1 && v->dims()[0] == length; }

Value* ones(ir::Graph& graph, std::int64_t n) {
  Tensor t(DType::f32, {n});
  for (std::int64_t i = 0; i < n; ++i) t.mutable_data<float>()[i] = 1;
  return graph.add_constant(std::move(t));
}

// Follows `v` through a Mul with a vector, and then an Add of a vector: scale and shift of a norm.
Value* affine_operand(ir::Graph& graph, Value*& v, const char* op) {
  Node* next = only_user(graph, v);
  if (!next || next->op() != op || next->body || next->out()->dims() != v->dims()) return nullptr;
  Value* operand = other(*next, v);
  if (!is_vector(operand, v->dims().back())) return nullptr;
  v = next->out();
  return operand;
}

bool try_fuse(ir::Graph& graph, Node& n) {
  double epsilon = 0;
  Value* x = normalised(n, epsilon);
  if (!x || n.body || x->dtype() != DType::f32 || !x->dims().back().is_constant()) return false;
  Node* sub = made_by(x, "Sub");
  Node* mean = sub ? made_by(sub->in(1), "ReduceMean") : nullptr;
  const bool centred = mean && over_last_axis(*mean) && mean->in(0) == sub->in(0);
  Value* result = n.out();
  Value* scale = affine_operand(graph, result, "Mul");
  Value* shift = centred ? affine_operand(graph, result, "Add") : nullptr;
  if (!scale) scale = ones(graph, x->dims().back().constant());
  Node* last = result->producer;
  std::vector<Value*> operands{centred ? sub->in(0) : x, scale};
  if (shift) operands.push_back(shift);
  const ir::Attributes attributes{{"epsilon", static_cast<float>(epsilon)}, {"axis", std::int64_t{-1}}};
  graph.replace_uses(result, graph.make(centred ? "LayerNormalization" : "RMSNormalization", operands, attributes, last));
  return true;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) changed = try_fuse(graph, *n) || changed;
  return changed;
}

}  // namespace

Pass pass_fuse_norm() { return {.name = "fuse_norm", .run = run}; }

}  // namespace tenfold::passes
