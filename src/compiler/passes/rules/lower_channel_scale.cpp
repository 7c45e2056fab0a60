// lower_channel_scale: a 1x1 convolution in which every channel has one filter of its own becomes a scale and a shift per channel,
// which join the pointwise Region around them and run at its memory speed.
//
// before: (x f32[2,3,4,5], w f32[3,1,1,1]!, b f32[3]!)
//   y = Conv(x, w, b) group=3
// after: (x f32[2,3,4,5])
//   s = constant f32[3,1,1]
//   t = constant f32[3,1,1]
//   p = Mul(x, s)
//   y = Add(p, t)
//
// kept: (x f32[2,3,4,5], w f32[3,1,1,1]!)
//   y = Conv(x, w) group=3 strides=[2,1]
//
// kept: (x f32[2,3,4,5], w f32[3,1,1,1]!)
//   y = Conv(x, w) group=3 pads=[0,1,0,0]
//
// kept: (x f32[2,3,4,5], w f32[6,1,1,1]!)
//   y = Conv(x, w) group=3
#include <algorithm>

#include "ops/fold.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool all_are(const ir::Ints& values, std::int64_t requested) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == requested; });
}

bool scales_channels(const ir::Node& n) {
  if (n.op() != "Conv" || n.body || n.out()->dtype() != DType::f32 || n.in(0)->dtype() != DType::f32) return false;
  const ir::Value *w = n.in(1), *bias = n.in(2);
  if (!w->is_constant() || w->dtype() != DType::f32 || (bias && (!bias->is_constant() || bias->dtype() != DType::f32))) return false;
  const Shape& shape = w->constant->tensor.shape();
  return shape[0] > 0 && n.attributes.integer("group", 1) == shape[0] && all_are({shape.begin() + 1, shape.end()}, 1) &&
         all_are(n.attributes.ints("strides", {}), 1) && all_are(n.attributes.ints("pads", {}), 0);
}

bool rule(ir::Graph& graph, ir::Node& n) {
  if (!scales_channels(n)) return false;
  Shape shape(static_cast<std::size_t>(n.in(0)->rank()) - 1, 1);
  shape[0] = n.in(1)->constant->tensor.size();
  const auto of_channels = [&](ir::Value* v, const char* suffix) { return ops::fold_reshape(graph, v, shape, v->name + suffix); };
  ir::Value* y = graph.make("Mul", {n.in(0), of_channels(n.in(1), "_scale")}, {}, &n);
  if (ir::Value* bias = n.in(2)) y = graph.make("Add", {y, of_channels(bias, "_shift")}, {}, &n);
  graph.replace_uses(n.out(), y);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, rule); }

}  // namespace

Pass pass_lower_channel_scale() { return {.name = "lower_channel_scale", .run = run}; }

}  // namespace tenfold::passes
