// norm_at_reader: the norm of a GEMM's few rows is computed by the next GEMM, whose blocks hold whole rows. A GEMM writes the sum before
// the norm; the GEMM that reads it finds each row's deviation and divides by it (NormGemm). Its weights contain the norm's scale and have
// zero mean along their columns, so that a row's mean cancels. A residual that adds the norm's result computes it as it reads the sum. For
// GPUs and few rows, where a kernel for the norm costs more than its bytes; the builder keeps this form if the whole graph is faster.
//
// before: (x f16[3,8], w f16[8,16]!, r f16[3,16], g f16[16]!, h f16[16]!, u f16[16,8]!, v f16[8,16]!, k f16[16]!, l f16[16]!)
//   n = GemmLayerNorm(x, w, g, h, _, r)
//   e = MatMul(n, u) anchor_inputs=2 body={(f16) %1=abs.f16(%0) -> %1}
//   y = GemmLayerNorm(e, v, k, l, _, n)
// after: (x f16[3,8], w f16[8,16]!, r f16[3,16], g f16[16]!, h f16[16]!, v f16[8,16]!, k f16[16]!, l f16[16]!)
//   gu = constant f16[16,8]
//   b = constant f16[8]
//   s = MatMul(x, w, r) anchor_inputs=2 body={(f16,f16) %2=cast.f32(%0) %3=cast.f32(%1) %4=add.f32(%2,%3) %5=cast.f16(%4) -> %5}
//   e, i, o = NormGemm(s, gu, b) anchor_inputs=2 body={(f16,f16) %2=cast.f32(%0) %3=cast.f32(%1) %4=add.f32(%2,%3) %5=cast.f16(%4) %6=abs.f16(%5) -> %6}
//   t = MatMul(e, v, h, s, i, o, g) anchor_inputs=2 body={(f16,f16,f16,f32,f32,f16) %6=cast.f32(%0) %7=cast.f32(%1) %8=add.f32(%6,%7) %9=cast.f32(%2) %10=mul.f32(%9,%3) %11=sub.f32(%10,%4) %12=cast.f32(%5) %13=mul.f32(%11,%12) %14=add.f32(%8,%13) %15=cast.f16(%14) -> %15}
//   y = LayerNormalization(t, k, l)
//
// kept: (x f16[3,8], w f16[8,16]!, g f16[16]!, h f16[16]!, u f16[16,8]!)
//   n = GemmLayerNorm(x, w, g, h)
//   e = MatMul(n, u)
//   y = Softmax(n)
//   return e, y
#include <algorithm>
#include <map>

#include "passes/deferred_norms.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::BodyBuilder;
using ir::Node;
using ir::Prim;
using ir::Value;
using Norms = std::map<const Value*, DeferredNorm>;

constexpr std::int64_t kFewRows = 256;

// The product with what is added to it before the norm; a residual is normalized itself if its norm was put off.
Value* sum_before(ir::Graph& graph, Node& n, const Norms& norms) {
  const auto found = norms.find(n.in(5));
  const DeferredNorm* added = found == norms.end() ? nullptr : &found->second;
  const DType type = n.in(0)->dtype();
  std::vector<Value*> operands;
  std::vector<DType> types{type};
  const auto take = [&](Value* v) {
    operands.push_back(v), types.push_back(v->dtype());
    return static_cast<std::uint16_t>(operands.size());
  };
  Value* row = added ? sum_of_rows(graph, n.in(4), added->bias) : n.in(4);
  const std::uint16_t row_at = row ? take(row) : 0, whole_at = added ? take(added->sum) : n.in(5) ? take(n.in(5)) : 0;
  const std::uint16_t inverse = added ? take(added->inverse) : 0, offset = added ? take(added->offset) : 0;
  const std::uint16_t scale = added ? take(added->scale) : 0;
  BodyBuilder b(types);
  std::uint16_t sum = wide(b, 0);
  if (row_at) {
    const std::uint16_t each = wide(b, row_at);
    sum = b.binary(Prim::add, sum, each);
  }
  if (whole_at) {
    std::uint16_t whole = wide(b, whole_at);
    if (added) {
      whole = b.binary(Prim::sub, b.binary(Prim::mul, whole, inverse), offset);
      const std::uint16_t factor = wide(b, scale);
      whole = b.binary(Prim::mul, whole, factor);
    }
    sum = b.binary(Prim::add, sum, whole);
  }
  Node product;
  product.def = &graph.registry().get("MatMul"), product.name = n.name + "_sum", product.numerics = n.numerics;
  product.inputs = {n.in(0), n.in(1)};
  if (!operands.empty()) {
    product.anchor_inputs = 2, product.body = b.finish({narrow(b, sum, type)});
    product.inputs.insert(product.inputs.end(), operands.begin(), operands.end());
  }
  Value* y = graph.add(std::move(product), 1, &n)->out();
  if (n.outputs.size() > 1) graph.replace_uses(n.outputs[1], y);
  return y;
}

// The product of what the norm would make, out of the sum.
void multiply_sum(ir::Graph& graph, Node& n, DeferredNorm& norm, const Node& of_norm) {
  const DType type = n.in(1)->dtype();
  const std::vector<Value*> constants = centered(graph, n.in(1), norm);
  BodyBuilder b({type, constants[1]->dtype()});
  const std::uint16_t quotient = wide(b, 0), shift = wide(b, 1);
  ir::Body body = b.finish({narrow(b, b.binary(Prim::add, quotient, shift), type)});
  Node product;
  product.def = &graph.registry().get("NormGemm"), product.name = n.name, product.anchor_inputs = 2;
  product.attributes.set("epsilon", of_norm.attributes.number("epsilon"));
  product.inputs = {norm.sum, constants[0], constants[1]};
  append_epilogue(n, std::move(body), product);
  const Node* made = graph.add(std::move(product), 3, &n);
  graph.replace_uses(n.out(), made->out());
  if (!norm.inverse) norm.inverse = made->outputs[1], norm.offset = made->outputs[2];
}

class Rule {
 public:
  explicit Rule(ir::Graph& graph) : graph_(graph) {
    for (Node* n : graph.node_list()) position_.emplace(n, position_.size());
  }
  bool run() {
    std::map<const Value*, const Node*> made_by;
    for (Node* n : graph_.node_list()) {
      Value* v = n->op() == "MatMul" ? n->in(0) : nullptr;
      if (const auto norm = norms_.find(v); norm != norms_.end()) multiply_sum(graph_, *n, norm->second, *made_by.at(v));
      if (n->op() != "GemmLayerNorm") continue;
      const bool deferred = may_defer(*n);
      if (!deferred && !norms_.contains(n->in(5))) continue;
      Value* sum = sum_before(graph_, *n, norms_);
      if (deferred) {
        norms_.emplace(n->out(), DeferredNorm{sum, nullptr, nullptr, n->in(2), n->in(3)}), made_by.emplace(n->out(), n);
      } else {
        graph_.replace_uses(n->out(), graph_.make("LayerNormalization", {sum, n->in(2), n->in(3)},
                                                  {{"epsilon", n->attributes.number("epsilon")}}, n));
      }
    }
    return !norms_.empty();
  }

 private:
  // All readers are products, or residuals behind one of these, which finds their deviation.
  bool may_defer(const Node& n) const {
    const Value* y = n.out();
    if (bits(y->dtype()) != 16 || graph_.is_output(y) || rows_of(graph_, n).upper > kFewRows) return false;
    std::size_t first = position_.size();
    for (const Node* user : y->users)
      if (multiplies(*user, y)) first = std::min(first, position_.at(user));
    return first < position_.size() && std::all_of(y->users.begin(), y->users.end(), [&](const Node* user) {
             return multiplies(*user, y) || (adds(*user, y) && position_.at(user) > first);
           });
  }

  ir::Graph& graph_;
  std::map<const Node*, std::size_t> position_;   // before this rule added any
  Norms norms_;
};

bool run(ir::Graph& graph) { return Rule(graph).run(); }

}  // namespace

Pass pass_norm_at_reader() { return {.name = "norm_at_reader", .run = run}; }

}  // namespace tenfold::passes
