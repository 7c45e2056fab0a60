// fuse_expand_depthwise: a 1x1 convolution whose only reader is a depthwise convolution becomes one node with it: lines of the first
// result are read while they are in cache. For CPUs; the tuner undoes it where that is faster (tune/choice/unfuse.h).
//
// before: (x f32[1,4,6,6], w f32[8,4,1,1]!, b f32[8,1,1]!, f f32[8,1,3,3]!, c f32[8,1,1]!)
//   e = Conv(x, w, b) dilations=[1,1] kernel_shape=[1,1] pads=[0,0,0,0] strides=[1,1] anchor_inputs=2 body={(f32,f32) %2=constant.f32(0)
//   %3=constant.f32(6) %4=add.f32(%0,%1) %5=max.f32(%4,%2) %6=min.f32(%5,%3) -> %6} y = Conv(e, f, c) dilations=[1,1] group=8
//   kernel_shape=[3,3] pads=[1,1,1,1] strides=[2,2] anchor_inputs=2 body={(f32,f32) %2=add.f32(%0,%1) -> %2}
// after: (x f32[1,4,6,6], w f32[8,4,1,1]!, b f32[8,1,1]!, f f32[8,1,3,3]!, c f32[8,1,1]!)
//   y = ExpandDepthwise(x, w, b, f, c) dilations=[1,1] high=6.0 kernel_shape=[3,3] low=0.0 pads=[1,1,1,1] strides=[2,2] anchor_inputs=4
//   body={(f32,f32) %2=add.f32(%0,%1) -> %2}
//
// before: (x bf16[1,4,6,6], w bf16[8,4,1,1]!, b bf16[8]!, f bf16[8,1,3,3]!, c bf16[8]!)
//   e = Conv(x, w, b) dilations=[1,1] kernel_shape=[1,1] pads=[0,0,0,0] strides=[1,1] anchor_inputs=3 body={(bf16) %1=constant.bf16(0)
//   %2=max.bf16(%0,%1) -> %2} y = Conv(e, f, c) dilations=[1,1] group=8 kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] anchor_inputs=3
//   body={(bf16) %1=neg.bf16(%0) -> %1}
// after: (x bf16[1,4,6,6], w bf16[8,4,1,1]!, f bf16[8,1,3,3]!)
//   v = bf16[8,1,1]{0,0,0,0,0,0,0,0}
//   u = bf16[8,1,1]{0,0,0,0,0,0,0,0}
//   y = ExpandDepthwise(x, w, v, f, u) dilations=[1,1] kernel_shape=[3,3] low=0.0 pads=[1,1,1,1] strides=[1,1] anchor_inputs=4
//   body={(bf16,bf16) %2=add.bf16(%0,%1) %3=neg.bf16(%2) -> %3}
//
// kept: (x f32[1,4,6,6], w f32[8,4,1,1]!, b f32[8,1,1]!, f f32[8,1,3,3]!)
//   e = Conv(x, w, b) dilations=[1,1] kernel_shape=[1,1] pads=[0,0,0,0] strides=[1,1] anchor_inputs=2 body={(f32,f32) %2=add.f32(%0,%1) ->
//   %2} y = Conv(e, f) dilations=[1,1] group=8 kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] return e, y
#include <algorithm>
#include <limits>

#include "ops/fold.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Dims;
using ir::Ints;
using ir::Node;

// A bias for each channel, then bounds.
struct Ending {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  bool add(const ir::Instr& i, const ir::Body& body) {
    const std::size_t inputs = body.inputs.size();
    if (i.b < inputs || body.code[i.b - inputs].prim != ir::Prim::constant) return false;
    const auto bound = static_cast<float>(body.code[i.b - inputs].imm);
    if (i.prim == ir::Prim::max && bound <= high) low = std::max(low, bound);
    else if (i.prim == ir::Prim::min && bound >= low) high = std::min(high, bound);
    else return false;
    return true;
  }
  // `has_bias`: one of the operator's own, so that the body needs none.
  bool read(const ir::Body& body, bool has_bias) {
    if (body.inputs.size() != (has_bias ? 1 : 2) || body.reduced_rank != 0 || body.outputs.size() != 1) return false;
    std::uint16_t value = 0;
    bool begun = has_bias;
    for (std::size_t at = 0; at < body.code.size(); ++at) {
      const ir::Instr& i = body.code[at];
      if (i.prim == ir::Prim::constant) continue;
      const bool bias = !begun && i.prim == ir::Prim::add && i.a == 0 && i.b == 1;
      if (i.dtype != body.inputs[0] || i.a != value || (!bias && (!begun || !add(i, body)))) return false;
      begun = true;
      value = static_cast<std::uint16_t>(body.inputs.size() + at);
    }
    return begun && body.outputs[0] == value;
  }
};

std::size_t own_operands(const Node& n) { return n.body ? static_cast<std::size_t>(n.anchor_inputs) : n.inputs.size(); }
bool has_own_bias(const Node& n) { return own_operands(n) == 3; }

// A convolution of f32 or bf16 images with a constant weight, and a bias of its own, if it has one, of that type.
bool is_plain(const Node& n) {
  if (n.op() != "Conv" || n.outputs.size() != 1) return false;
  const DType type = n.in(0)->dtype();
  if (has_own_bias(n) && !(n.in(2) && n.in(2)->is_constant() && n.in(2)->dtype() == type)) return false;
  return n.in(1)->is_constant() && n.in(1)->rank() == 4 && (type == DType::f32 || type == DType::bf16) && n.out()->dtype() == type &&
         n.in(1)->dtype() == type && !n.numerics.allows(ir::Rounding::bf16) && n.attributes.string("auto_pad", "NOTSET") == "NOTSET";
}
bool all_are(const Ints& values, std::int64_t requested) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == requested; });
}

bool is_decomposition(const Node& n, Ending& ending) {
  if (!is_plain(n) || n.inputs.size() != 3 || n.attributes.integer("group", 1) != 1) return false;
  const Dims& w = n.in(1)->dims();
  if (w[2] != Dim(1) || w[3] != Dim(1) || !all_are(n.attributes.ints("strides", {}), 1) || !all_are(n.attributes.ints("pads", {}), 0))
    return false;
  if (!n.body) return has_own_bias(n);
  if (!has_own_bias(n) && n.in(2)->dims() != Dims{w[0], 1, 1}) return false;
  return n.in(2)->is_constant() && n.in(2)->dtype() == n.in(0)->dtype() && ending.read(*n.body, has_own_bias(n));
}

ir::Value* bias_of_channels(ir::Graph& graph, const Node& n) {
  return has_own_bias(n) ? ops::fold_reshape(graph, n.in(2), {n.in(2)->constant->tensor.size(), 1, 1}, n.in(2)->name) : n.in(2);
}

// What follows the second convolution, its own bias included, and the operands of that.
void take_epilogue(ir::Graph& graph, const Node& n, Node& fused) {
  std::vector<ir::Value*> operands(n.inputs.begin() + static_cast<std::ptrdiff_t>(own_operands(n)), n.inputs.end());
  fused.body = n.body;
  if (has_own_bias(n)) {
    ir::BodyBuilder b({n.out()->dtype(), n.out()->dtype()});
    fused.body = b.finish({b.binary(ir::Prim::add, 0, 1)});
    if (n.body) {
      std::vector<int> links(n.body->inputs.size(), -1);
      links[0] = fused.body->outputs[0];
      fused.body = ir::compose(*fused.body, *n.body, links);
    }
    operands.insert(operands.begin(), bias_of_channels(graph, n));
  }
  fused.inputs.insert(fused.inputs.end(), operands.begin(), operands.end());
  if (fused.body) fused.anchor_inputs = 4;
}

bool fuse(ir::Graph& graph, Node& n) {
  if (!is_plain(n)) return false;
  const Dims& filters = n.in(1)->dims();
  if (filters[1] != Dim(1) || !filters[0].is_constant() || n.attributes.integer("group", 1) != filters[0].constant()) return false;
  Node* first = n.in(0)->producer;
  Ending ending;
  if (!first || !only_user(graph, n.in(0)) || !is_decomposition(*first, ending) || first->in(1)->dims()[0] != filters[0] ||
      first->in(0)->dtype() != n.in(0)->dtype() || first->numerics != n.numerics)
    return false;
  Node fused;
  fused.def = &graph.registry().get("ExpandDepthwise"), fused.name = n.name, fused.numerics = n.numerics;
  for (const char* name : {"dilations", "kernel_shape", "pads", "strides"})
    if (n.attributes.has(name)) fused.attributes.set(name, n.attributes.ints(name));
  if (std::isfinite(ending.low)) fused.attributes.set("low", ending.low);
  if (std::isfinite(ending.high)) fused.attributes.set("high", ending.high);
  fused.inputs = {first->in(0), first->in(1), bias_of_channels(graph, *first), n.in(1)};
  take_epilogue(graph, n, fused);
  const Node* added = graph.add(std::move(fused), 1, &n);
  graph.replace_uses(n.out(), added->outputs[0]);
  graph.erase(n);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, fuse); }

}  // namespace

Pass pass_fuse_expand_depthwise() { return {.name = "fuse_expand_depthwise", .run = run}; }

}  // namespace tenfold::passes
