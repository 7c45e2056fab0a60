// fuse_conv_max_pool: a first convolution followed by 2x2 max pooling writes only the pooled results. ReLU moves after the pool,
// which is correct because it is monotonic. For GPUs, where the pool would be a separate step.
//
// before: (x f16[2,3,8,6], w f16[8,3,3,3]!, b f16[8]!)
//   c = Conv(x, w, b) pads=[1,1,1,1]
//   r = Relu(c)
//   y = MaxPool(r) kernel_shape=[2,2] strides=[2,2]
// after: (x f16[2,3,8,6], w f16[8,3,3,3]!, b f16[8]!)
//   p = ConvMaxPool(x, w, b) pads=[1,1,1,1]
//   y = Relu(p)
//
// kept: (x f16[2,3,8,6], w f16[8,3,3,3]!, b f16[8]!)
//   c = Conv(x, w, b) pads=[1,1,1,1]
//   y = MaxPool(c) kernel_shape=[3,3] strides=[2,2]
#include "passes/first_convolutions.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Ints;

bool pools_two_by_two(const ir::Node& n) {
  if (n.op() != "MaxPool" || n.body || n.outputs.size() != 1 || n.in(0)->rank() != 4) return false;
  const Ints twos{2, 2}, ones{1, 1}, none{0, 0, 0, 0};
  return n.attributes.ints("kernel_shape", {}) == twos && n.attributes.ints("strides", ones) == twos &&
         n.attributes.ints("dilations", ones) == ones && n.attributes.ints("pads", none) == none &&
         n.attributes.string("auto_pad", "NOTSET") == "NOTSET" && n.attributes.integer("ceil_mode", 0) == 0;
}

// What ConvMaxPool gives is what the pool gave.
bool halves(const ir::Value& conv, const ir::Value& pool) {
  const ir::Dims &full = conv.dims(), &half = pool.dims();
  for (std::size_t d = 2; d < 4; ++d)
    if (!full[d].is_constant() || half[d] != ir::Dim(full[d].constant() / 2)) return false;
  return conv.dtype() == pool.dtype() && full[0] == half[0] && full[1] == half[1];
}

bool rule(ir::Graph& graph, ir::Node& n) {
  if (!pools_two_by_two(n)) return false;
  const ir::Node* relu = made_by(n.in(0), "Relu");
  if (relu && (relu->body || !only_user(graph, relu->out()))) return false;
  const ir::Node* conv = made_by(relu ? relu->in(0) : n.in(0), "Conv");
  if (!conv || conv->body || !only_user(graph, conv->out())) return false;
  if (conv->out()->dtype() != DType::f16 && conv->out()->dtype() != DType::bf16) return false;
  if (!has_few_channels(*conv) || !halves(*conv->out(), *n.out())) return false;
  ir::Node fused;
  fused.def = &graph.registry().get("ConvMaxPool"), fused.name = conv->name, fused.numerics = conv->numerics;
  fused.attributes = conv->attributes, fused.inputs = conv->inputs;
  ir::Value* result = graph.add(std::move(fused), 1, &n)->out();
  if (relu) result = graph.make("Relu", {result}, {}, &n);
  graph.replace_uses(n.out(), result);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, rule); }

}  // namespace

Pass pass_fuse_conv_max_pool() { return {.name = "fuse_conv_max_pool", .run = run}; }

}  // namespace tenfold::passes
