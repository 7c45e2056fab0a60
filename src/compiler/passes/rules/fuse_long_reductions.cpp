// fuse_long_reductions: reductions over the last dims, softmax and norms among them, of any length and float type, join the pointwise
// nodes around them in one Region. For GPUs, whose kernel holds a row in the registers of a block or a cluster, or splits longer
// ones.
//
// before: (x f16[4,3000])
//   n = ReduceL2(x) axes=[-1]
//   y = Div(x, n)
// after: (x f16[4,3000])
//   y = Region(x) body={(f16) %1=cast.f32(%0) %2=mul.f32(%1,%1) %3=reduce_sum.f32(%2) %4=sqrt.f32(%3) %5=cast.f16(%4) %6=div.f16(%0,%5) over=1 -> %6}
//
// before: (x f32[4,8,5], z f32[4,8,5])
//   p = Mul(x, z)
//   y = ReduceSum(p) axes=[1,2] keepdims=0
// after: (x f32[4,8,5], z f32[4,8,5])
//   flat = i64[1]{4}
//   s = Region(x, z) body={(f32,f32) %2=mul.f32(%0,%1) %3=reduce_sum.f32(%2) over=2 -> %3}
//   y = Reshape(s, flat) allowzero=1
//
// before: (x f32[4,8], k f32[8])
//   m = Add(x, k)
//   y = Softmax(m) axis=-1
// after: (x f32[4,8], k f32[8])
//   y = Region(x, k) body={(f32,f32) %2=add.f32(%0,%1) %3=reduce_max.f32(%2) %4=sub.f32(%2,%3) %5=exp.f32(%4) %6=reduce_sum.f32(%5) %7=reciprocal.f32(%6) %8=mul.f32(%5,%7) over=1 -> %8}
//
// before: (x f32[4,8])
//   least = f32[]{0.5}
//   at = i64[1]{1}
//   n = ReduceL2(x) axes=[-1] keepdims=0
//   c = Max(n, least)
//   u = Unsqueeze(c, at)
//   y = Div(x, u)
// after: (x f32[4,8])
//   y = Region(x) body={(f32) %1=constant.f32(0.5) %2=mul.f32(%0,%0) %3=reduce_sum.f32(%2) %4=sqrt.f32(%3) %5=max.f32(%4,%1) %6=div.f32(%0,%5) over=1 -> %6}
//
// kept: (x f32[2,8,16])
//   m = ReduceMean(x) axes=[1]
//   y = Sub(x, m)
//
// kept: (x f32[8])
//   least = f32[1]{0.5}
//   to = i64[2]{1,1}
//   n = ReduceL2(x) axes=[-1] keepdims=0
//   c = Max(n, least)
//   y = Reshape(c, to)
#include "passes/bodies.h"
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"
#include "passes/row_chains.h"

namespace tenfold::passes {
namespace {

using ir::Node;

// A reduction over the last dims, as many as it has axes, that drops them.
std::optional<ir::Ints> dropped_dims(const Node& n) {
  std::optional<ir::Ints> axes = reduced_axes(n);
  if (!axes || axes->empty() || n.attributes.integer("keepdims") != 0) return std::nullopt;
  for (std::size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i] != n.in(0)->rank() - static_cast<int>(axes->size() - i)) return std::nullopt;
  return axes;
}
ir::Value* with_dims_kept(ir::Graph& graph, const Node& n, const ir::Ints& axes, Node* before) {
  return graph.make(n.op(), {n.in(0)}, {{"axes", axes}, {"keepdims", std::int64_t{1}}}, before);
}

// They are dropped behind it instead, where the node ahead may join it.
bool drop_after(ir::Graph& graph, Node& n) {
  const std::optional<ir::Ints> axes = dropped_dims(n);
  if (!axes || !n.in(0)->producer || !read_by_alone(graph, n.in(0), n) || !body_of(*n.in(0)->producer)) return false;
  if (static_cast<std::size_t>(n.in(0)->rank()) == axes->size()) return false;
  ir::Value *kept = with_dims_kept(graph, n, *axes, &n), *last = n.out();
  while (ir::Value* more = with_reader(graph, kept, last)) kept = more;
  ir::Value* flat = reshape_to(graph, kept, last->dims(), last->producer);
  if (!flat) return false;
  graph.replace_uses(last, flat);
  return true;
}

// What `v` would be with `ones` more dims of 1, if it is made of reductions that dropped as many, element by element; else null.
ir::Value* with_ones(ir::Graph& graph, ir::Value* v, std::size_t ones, Node* before) {
  const Node* n = v->producer;
  if (!n || v->users.size() != 1 || graph.is_output(v)) return nullptr;
  if (const std::optional<ir::Ints> axes = dropped_dims(*n))
    return axes->size() == ones ? with_dims_kept(graph, *n, *axes, before) : nullptr;
  if (!body_of(*n)) return nullptr;
  Node copy;
  copy.def = n->def, copy.attributes = n->attributes, copy.numerics = n->numerics;
  copy.name = n->name, copy.body = n->body, copy.inputs = n->inputs;
  int changed = 0;
  for (ir::Value*& in : copy.inputs) {
    if (ir::product(in->dims()) == ir::Dim(1) && in->rank() < 2) continue;
    in = with_ones(graph, in, ones, before);
    if (!in) return nullptr;
    ++changed;
  }
  return changed > 0 ? graph.add(std::move(copy), 1, before)->out() : nullptr;
}

// A sum of rows with its norm, of rows in order alone, is an Add and a norm where something pointwise follows, which then joins.
bool split_sum(ir::Graph& graph, Node& n) {
  if (n.op() != "SkipLayerNorm" || n.outputs.size() != 1 || n.inputs.size() < 5) return false;
  const Node* next = only_user(graph, n.out());
  if (!next || !body_of(*next) || next->out()->dims() != n.out()->dims()) return false;
  ir::Value* sum = nullptr;
  const int count = static_cast<int>(n.inputs.size());
  for (int i = 2; i < count; i += 2)
    if (n.in(i + 1) || n.in(i)->dtype() != n.out()->dtype()) return false;
  for (int i = 2; i < count; i += 2)
    sum = sum ? graph.make("Add", {sum, n.in(i)}, {}, &n) : n.in(i);
  if (sum->dims() != n.out()->dims()) return false;
  const ir::Attributes attributes{{"epsilon", n.attributes.number("epsilon")}, {"axis", std::int64_t{-1}}};
  graph.replace_uses(n.out(), graph.make("LayerNormalization", {sum, n.in(0), n.in(1)}, attributes, &n));
  return true;
}

// Dims that are dropped, and come back further down, stay.
bool keep_dims(ir::Graph& graph, Node& n) {
  if (!is_reshape(n) || n.out()->rank() <= n.in(0)->rank()) return false;
  const ir::Dims &from = n.in(0)->dims(), &to = n.out()->dims();
  if (!std::equal(from.begin(), from.end(), to.begin())) return false;
  for (std::size_t d = from.size(); d < to.size(); ++d)
    if (to[d] != ir::Dim(1)) return false;
  ir::Value* kept = with_ones(graph, n.in(0), to.size() - from.size(), &n);
  if (!kept || kept->dims() != n.out()->dims()) return false;   // a constant had an axis more than what was reduced to a number
  graph.replace_uses(n.out(), kept);
  return true;
}

bool convolves(const Node& n) {
  const ir::OpTraits& traits = n.def->traits;
  return traits.gemm_kind == ir::GemmKind::convolution || traits.permission.convolves || n.op() == "DeformConv";
}

bool run(ir::Graph& graph) {
  constexpr std::int64_t kAny = std::int64_t{1} << 40;
  bool pictures = true;   // may lie channels-last where convolutions are
  for (const auto& n : graph.nodes()) pictures = pictures && !convolves(*n);
  const bool split = try_each(graph, split_sum), kept = try_each(graph, keep_dims);
  graph.sweep();   // what was copied, or begun in vain, would be read twice
  const bool dropped = try_each(graph, drop_after);
  graph.sweep();
  const RowChains what{.longest = kAny, .pictures = pictures, .fp16 = true, .unknown = true, .repeats = true, .norms = true};
  return fuse_row_chains(graph, what) || split || kept || dropped;
}

}  // namespace

Pass pass_fuse_long_reductions() { return {.name = "fuse_long_reductions", .run = run}; }

}  // namespace tenfold::passes
