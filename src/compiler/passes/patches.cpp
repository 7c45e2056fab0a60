#include "passes/patches.h"

#include <algorithm>

#include "ops/fold.h"
#include "passes/match.h"
#include "passes/movement.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Dims;
using ir::Ints;
using ir::Node;
using ir::Value;

bool all_are(const Ints& values, std::int64_t requested) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == requested; });
}

// Do the windows tile the image? Shape inference has written out what auto_pad implies.
bool tiles(const Node& n) {
  const Dims &x = n.in(0)->dims(), &w = n.in(1)->dims(), &y = n.out()->dims();
  if (!n.in(1)->is_constant() || (n.in(2) && !n.in(2)->is_constant()) || n.attributes.integer("group") != 1) return false;
  const Ints strides = n.attributes.ints("strides", Ints(w.size() - 2, 1));
  for (std::size_t d = 2; d < w.size(); ++d)
    if (!(w[d] == Dim(strides[d - 2])) || !x[d].is_constant() || !(x[d] == y[d] * w[d])) return false;
  return all_are(n.attributes.ints("pads", {}), 0) && all_are(n.attributes.ints("dilations", {}), 1) &&
         n.attributes.string("auto_pad", "NOTSET") == "NOTSET";
}

// The convolution behind a Reshape to one dim of positions and a Transpose that puts channels behind them.
Node* conv_after(const ir::Graph& graph, const Node& n) {
  if (n.op() != "Transpose" || n.body || perm_of(n) != Ints{0, 2, 1} || !only_user(graph, n.in(0))) return nullptr;
  const Node* reshape = n.in(0)->producer;
  if (!reshape || !is_reshape(*reshape) || !only_user(graph, reshape->in(0))) return nullptr;
  Node* conv = made_by(reshape->in(0), "Conv");
  const Dims& dims = n.in(0)->dims();
  return conv && dims[0] == conv->out()->dims()[0] && dims[1] == conv->out()->dims()[1] && tiles(*conv) ? conv : nullptr;
}

Value* lowered(ir::Graph& graph, Node& end, Node& conv) {
  const Dims x = conv.in(0)->dims(), w = conv.in(1)->dims(), y = conv.out()->dims();
  Dims split{x[0], x[1]};
  Ints order{0}, inner{1};
  Dim length = w[1];
  for (std::size_t d = 2; d < w.size(); ++d) {
    order.push_back(static_cast<std::int64_t>(split.size()));
    inner.push_back(static_cast<std::int64_t>(split.size()) + 1);
    split.push_back(y[d]), split.push_back(w[d]);
    length = length * w[d];
  }
  order.insert(order.end(), inner.begin(), inner.end());
  Value* parts = reshape_to(graph, conv.in(0), split, &end);
  Value* windows = parts ? reshape_to(graph, transpose_by(graph, parts, order, &end), {x[0], end.out()->dims()[1], length}, &end) : nullptr;
  if (!windows) return nullptr;
  const std::string& name = conv.in(1)->name;
  Value* matrix = ops::fold_reshape(graph, conv.in(1), {w[0].constant(), length.constant()}, name + "_rows");
  matrix = ops::fold(graph, "Transpose", {matrix}, {{"perm", Ints{1, 0}}}, name + "_matrix");
  Value* product = graph.add("MatMul", {windows, matrix}, {}, 1, conv.name, &end)->out();
  product->producer->numerics = conv.numerics;
  return conv.in(2) ? graph.make("Add", {product, conv.in(2)}, {}, &end) : product;
}

}  // namespace

bool lower_patches(ir::Graph& graph, std::int64_t min) {
  bool changed = false;
  for (Node* n : graph.node_list()) {
    Node* conv = conv_after(graph, *n);
    if (!conv || ir::product(std::span(conv->in(1)->dims()).subspan(2)).constant() < min) continue;
    Value* made = lowered(graph, *n, *conv);
    if (!made) continue;
    graph.replace_uses(n->out(), made);
    changed = true;
  }
  return changed;
}

}  // namespace tenfold::passes
