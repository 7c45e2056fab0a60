// lower_conv_transpose: a transposed convolution whose windows neither overlap nor leave gaps (the upsampling of a U-Net) becomes a
// 1x1 convolution to every element of a window, followed by a move to its place. For GPUs, whose convolutions are fast; in 16-bit
// types it has tactics of its own.
//
// before: (x f32[2,3,4,5], w f32[3,6,2,2]!, b f32[6]!)
//   y = ConvTranspose(x, w, b) strides=[2,2] numerics={round_to=tf32}
// after: (x f32[2,3,4,5])
//   k = constant f32[24,3,1,1]
//   c = constant f32[24]
//   u = i64[6]{2,2,2,6,4,5}
//   v = i64[4]{2,6,8,10}
//   p = Conv(x, k, c) numerics={round_to=tf32}
//   r = Reshape(p, u) allowzero=1
//   t = Transpose(r) perm=[0,3,4,1,5,2]
//   y = Reshape(t, v) allowzero=1
//
// kept: (x f16[2,3,4,5], w f16[3,6,2,2]!)
//   y = ConvTranspose(x, w) strides=[2,2]
//
// kept: (x f32[2,3,4,5], w f32[3,0,2,2]!, b f32[0]!)
//   y = ConvTranspose(x, w, b) strides=[2,2] numerics={round_to=tf32}
#include <algorithm>

#include "ops/fold.h"
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Dims;
using ir::Ints;
using ir::Value;

bool all_are(const Ints& values, std::int64_t requested) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == requested; });
}

// Do the windows tile the result? Shape inference has written out what auto_pad and output_shape imply.
bool tiles(const ir::Node& n) {
  if (n.op() != "ConvTranspose" || n.body || bits(n.out()->dtype()) == 16) return false;
  if (!n.in(1)->is_constant() || (n.in(2) && !n.in(2)->is_constant()) || n.in(1)->constant->tensor.size() == 0) return false;
  const Dims& w = n.in(1)->dims();
  const Ints strides = n.attributes.ints("strides", Ints(w.size() - 2, 1));
  for (std::size_t d = 2; d < w.size(); ++d)
    if (!(w[d] == Dim(strides[d - 2]))) return false;
  const auto ints = [&](const char* name) { return n.attributes.ints(name, {}); };
  return n.attributes.integer("group") == 1 && all_are(ints("pads"), 0) && all_are(ints("dilations"), 1) &&
         all_are(ints("output_padding"), 0) && w.size() <= 5 && n.attributes.string("auto_pad", "NOTSET") == "NOTSET";
}

Value* indices(ir::Graph& graph, const Ints& values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
  return graph.add_constant(std::move(t));
}

// Null where a Reshape cannot say the dims: more than one is unknown.
Value* lowered(ir::Graph& graph, ir::Node& n) {
  const Dims x = n.in(0)->dims(), w = n.in(1)->dims(), y = n.out()->dims();
  const std::size_t spatial = w.size() - 2;
  const auto axis = [](std::size_t d) { return static_cast<std::int64_t>(d); };
  Ints weight_order, weight_shape{w[1].constant(), w[0].constant()}, place{0, axis(1 + spatial)};
  Dims split{x[0]};
  for (std::size_t d = 0; d < spatial; ++d) {
    weight_order.push_back(axis(2 + d));
    weight_shape[0] *= w[2 + d].constant();
    weight_shape.push_back(1);
    split.push_back(w[2 + d]);
    place.push_back(axis(2 + spatial + d));
    place.push_back(axis(1 + d));
  }
  weight_order.insert(weight_order.end(), {1, 0});
  split.push_back(w[1]);
  split.insert(split.end(), x.begin() + 2, x.end());
  Value* turned = ops::fold(graph, "Transpose", {n.in(1)}, {{"perm", weight_order}}, n.in(1)->name);
  std::vector<Value*> operands{n.in(0), ops::fold_reshape(graph, turned, weight_shape, n.in(1)->name + "_1x1")};
  if (Value* bias = n.in(2)) {
    Value* times = indices(graph, {weight_shape[0] / w[1].constant()});
    operands.push_back(ops::fold(graph, "Tile", {bias, times}, {}, bias->name + "_tiled"));
  }
  ir::Node conv;
  conv.def = &graph.registry().get("Conv"), conv.name = n.name, conv.numerics = n.numerics, conv.inputs = std::move(operands);
  Value* product = graph.add(std::move(conv), 1, &n)->out();
  Value* parts = reshape_to(graph, product, split, &n);
  return parts ? reshape_to(graph, transpose_by(graph, parts, place, &n), y, &n) : nullptr;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* n : graph.node_list()) {
    if (!tiles(*n)) continue;
    Value* made = lowered(graph, *n);
    if (!made) continue;
    graph.replace_uses(n->out(), made);
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_lower_conv_transpose() { return {.name = "lower_conv_transpose", .run = run}; }

}  // namespace tenfold::passes
