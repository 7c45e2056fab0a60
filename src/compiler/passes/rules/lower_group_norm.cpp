// lower_group_norm: GroupNormalization and InstanceNormalization become rows of channels that a Region normalizes, together with the
// pointwise operators that follow. For GPUs, whose kernel for such Regions holds a row in registers or splits it between blocks.
//
// before: (x f32[2,6,4,5], w f32[6], b f32[6])
//   n = GroupNormalization(x, w, b) num_groups=3 epsilon=0.5
//   y = Relu(n)
// after: (x f32[2,6,4,5], w f32[6], b f32[6])
//   rows = i64[4]{2,3,2,20}
//   each = i64[3]{3,2,1}
//   back = i64[4]{2,6,4,5}
//   g = Reshape(x, rows) allowzero=1
//   s = Reshape(w, each) allowzero=1
//   c = Reshape(b, each) allowzero=1
//   n = Region(g, s, c) body={(f32,f32,f32) %3=constant.f32(0.025) %4=reduce_sum.f32(%0) %5=mul.f32(%4,%3) %6=sub.f32(%0,%5) %7=mul.f32(%6,%6) %8=reduce_sum.f32(%7) %9=mul.f32(%8,%3) %10=constant.f32(0.5) %11=add.f32(%9,%10) %12=rsqrt.f32(%11) %13=mul.f32(%6,%12) %14=mul.f32(%13,%1) %15=add.f32(%14,%2) over=2 -> %15}
//   r = Relu(n)
//   y = Reshape(r, back) allowzero=1
//
// kept: (x f64[2,6,4,5], w f64[6], b f64[6])
//   y = InstanceNormalization(x, w, b)
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/norm_bodies.h"
#include "passes/pass.h"
#include "passes/row_chains.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Node;
using ir::Value;

// In other dims; what is cast for nobody else is cast there, where it can join.
Value* in_rows(ir::Graph& graph, Value* v, const ir::Dims& dims, Node* n) {
  const Node* cast = made_by(v, "Cast");
  if (!cast || only_user(graph, v) != n) return reshape_to(graph, v, dims, n);
  Value* rows = reshape_to(graph, cast->in(0), dims, n);
  return rows ? graph.make("Cast", {rows}, cast->attributes, n) : nullptr;
}

bool try_lower(ir::Graph& graph, Node& n) {
  const bool grouped = n.op() == "GroupNormalization";
  if ((!grouped && n.op() != "InstanceNormalization") || n.body || n.outputs.size() != 1 || n.in(0)->rank() < 2) return false;
  const ir::Dims& dims = n.in(0)->dims();
  if (!ir::is_constant(ir::Dims(dims.begin() + 1, dims.end()))) return false;
  const Dim channels = dims[1];
  const std::int64_t groups = grouped ? n.attributes.integer("num_groups") : channels.constant();
  if (groups < 1 || channels.constant() % groups != 0) return false;
  const Dim each = channels.constant() / groups, spatial = ir::product(std::span(dims).subspan(2));
  if (spatial.constant() < 1 || (each * spatial).constant() < 2) return false;
  for (int i = 1; i < 3; ++i)
    if (n.in(i)->dims() != ir::Dims{channels}) return false;
  const std::optional<ir::Body> body = group_norm_nhwc_body(n, (each * spatial).constant());
  if (!body) return false;
  Node region;
  region.def = &graph.registry().get("Region"), region.name = n.name, region.body = body;
  region.inputs = {in_rows(graph, n.in(0), {dims[0], Dim(groups), each, spatial}, &n),
                   reshape_to(graph, n.in(1), {Dim(groups), each, Dim(1)}, &n),
                   reshape_to(graph, n.in(2), {Dim(groups), each, Dim(1)}, &n)};
  for (const Value* v : region.inputs)
    if (!v) return false;
  Value *rows = graph.add(std::move(region), 1, &n)->out(), *last = n.out();
  while (Value* more = with_reader(graph, rows, last)) rows = more;
  Node* end = last->producer;
  Value* back = reshape_to(graph, rows, last->dims(), end);
  if (!back) return false;
  graph.replace_uses(last, back);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_lower); }

}  // namespace

Pass pass_lower_group_norm() { return {.name = "lower_group_norm", .run = run}; }

}  // namespace tenfold::passes
