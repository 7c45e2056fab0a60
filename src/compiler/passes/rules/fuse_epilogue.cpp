// fuse_epilogue: pointwise operators after a GEMM or convolution (bias, activation, residual, clip, requantization) become its
// epilogue. The tuner may undo it.
//
// before: (x f32[8,512], w f32[512,64]!, b f32[64]!)
//   t = MatMul(x, w)
//   u = Add(t, b)
//   y = Relu(u)
// after: (x f32[8,512], w f32[512,64]!, b f32[64]!)
//   y = MatMul(x, w, b) anchor_inputs=2 body={(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4}
//
// before: (x f16[8,32], w f16[32,16]!, q u8[8,16])
//   t = MatMul(x, w)
//   d = Region(q) body={(u8) %1=cast.f32(%0) -> %1}
//   h = Cast(d) to="f16"
//   y = Add(t, h)
// after: (x f16[8,32], w f16[32,16]!, q u8[8,16])
//   y = MatMul(x, w, q) anchor_inputs=2 body={(f16,u8) %2=cast.f32(%1) %3=cast.f16(%2) %4=add.f16(%0,%3) -> %4}
//
// kept: (x f32[8,512], w f32[512,64]!)
//   t = MatMul(x, w)
//   u = Relu(t)
//   y = Add(u, t)
#include <map>
#include <unordered_map>

#include "ops/fold.h"
#include "passes/bodies.h"
#include "passes/epilogue.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool is_anchor(const ir::Node& n) { return n.outputs.size() == 1 && n.def->traits.anchor; }

// The bias operand of a convolution, as an addend that broadcasts over space.
void bias_to_body(ir::Graph& graph, ir::Node& n) {
  if ((n.op() != "Conv" && n.op() != "ConvTranspose") || n.body || !n.in(2) || !n.in(2)->is_constant() || n.out()->dtype() != DType::f32)
    return;
  Shape shape{n.in(2)->constant->tensor.size()};
  for (int d = 2; d < n.out()->rank(); ++d) shape.push_back(1);
  graph.set_input(n, 2, ops::fold_reshape(graph, n.in(2), shape, n.in(2)->name));
  ir::BodyBuilder b({DType::f32, DType::f32});
  n.body = b.finish({b.binary(ir::Prim::add, 0, 1)});
  n.anchor_inputs = 2;
}

// A region joins if it narrows the result (quantizes it) or if it is what an integer accumulator is made for.
bool region_may_join(const ir::Node& anchor, const ir::Node& region) {
  return bits(region.out()->dtype()) < bits(anchor.out()->dtype()) || anchor.def->traits.accumulates;
}

// Operands that a region only widens (a dequantized residual), and a cast makes 16 bits of, are read as they were before, whoever else
// reads them.
void take_narrow_operands(ir::Body& body, std::vector<ir::Value*>& operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ir::Node* cast = made_by(operands[i], "Cast");
    if (cast && (bits(cast->out()->dtype()) != 16 || !is_float(cast->out()->dtype()))) cast = nullptr;
    const ir::Node* producer = cast ? cast->in(0)->producer : operands[i]->producer;
    if (!producer || producer->op() != "Region" || producer->inputs.size() != 1 || producer->in(0)->dims() != operands[i]->dims()) continue;
    const std::optional<ir::Body> widening = body_of(*producer);
    if (!widening || bits(producer->in(0)->dtype()) >= bits(operands[i]->dtype())) continue;
    if (cast) body = feed(body, static_cast<int>(i) + 1, *body_of(*cast));
    body = feed(body, static_cast<int>(i) + 1, *widening);
    operands[i] = producer->in(0);
  }
}

using AlsoJoins = bool (*)(const ir::Node&, const ir::Node&);
// Takes `next`, the only reader of `n`, into its epilogue. Gives the fused node in its place, or null.
ir::Node* absorb(ir::Graph& graph, ir::Node& n, ir::Node* next, AlsoJoins also) {
  if (!next || (next->op() == "Region" && !region_may_join(n, *next) && !(also && also(n, *next)))) return nullptr;
  const std::optional<ir::Body> body = body_of(*next);
  if (!body || next->out()->dims() != n.out()->dims() || body->code.size() + (n.body ? n.body->code.size() : 0) > kMaxCode) return nullptr;
  const int own = n.anchor_inputs >= 0 ? n.anchor_inputs : static_cast<int>(n.inputs.size());
  std::vector<ir::Value*> operands(n.inputs.begin() + own, n.inputs.end());
  ir::Body current = n.body ? *n.body : ir::Body{{n.out()->dtype()}, {}, {0}, 0};
  ir::Node fused;
  fused.def = n.def, fused.attributes = n.attributes, fused.name = n.name, fused.anchor_inputs = own, fused.numerics = n.numerics;
  fused.body = append(current, operands, 1, *body, next->inputs, n.out());
  take_narrow_operands(*fused.body, operands);
  fused.inputs.assign(n.inputs.begin(), n.inputs.begin() + own);
  fused.inputs.insert(fused.inputs.end(), operands.begin(), operands.end());
  ir::Node* added = graph.add(std::move(fused), 1, next);   // after everything that its new operands need
  graph.replace_uses(next->out(), added->out());
  graph.erase(*next);
  graph.erase(n);
  return added;
}

bool run(ir::Graph& graph) { return grow_epilogues(graph); }

}  // namespace

// The first anchor in the order of nodes grows by one node at a time and moves to where that stood: what two anchors could take (the
// sum of a residual) goes to the one that is computed last, so that the other is there to be read.
bool grow_epilogues(ir::Graph& graph, AlsoJoins also) {
  std::unordered_map<const ir::Node*, std::size_t> position;
  std::map<std::size_t, ir::Node*> waiting;
  for (ir::Node* n : graph.node_list()) {
    const std::size_t at = position.size();
    position[n] = at;
    if (is_anchor(*n)) waiting[at] = n;
  }
  bool changed = false;
  while (!waiting.empty()) {
    ir::Node* n = waiting.begin()->second;
    waiting.erase(waiting.begin());
    bias_to_body(graph, *n);
    ir::Node* next = only_user(graph, n->out());
    const std::size_t at = next ? position.at(next) : 0;
    ir::Node* fused = absorb(graph, *n, next, also);
    if (!fused) continue;
    position[fused] = at;
    waiting[at] = fused;
    changed = true;
  }
  return changed;
}

Pass pass_fuse_epilogue() { return {.name = "fuse_epilogue", .run = run}; }

}  // namespace tenfold::passes
