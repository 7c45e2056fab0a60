// A product with the norm of its rows that passes/fuse_product_norm made, against the two of them.
#include "tune/cuts.h"

namespace tenfold::tune {
namespace {

// The product with what is added to it: all of it where the sum is a result, else the row alone, for SumNorm adds the rest as quickly.
ir::Node* product_of(ir::Graph& graph, ir::Node& node, bool kept) {
  ir::Node product;
  product.def = &graph.registry().get("MatMul"), product.name = node.name + "_product", product.numerics = node.numerics;
  product.sources.own = node.sources.own;
  product.inputs = {node.in(0), node.in(1)};
  product.anchor_inputs = 2;
  std::vector<DType> types{node.in(0)->dtype()};
  for (int i = 4; i < (kept ? 6 : 5); ++i)
    if (node.in(i)) product.inputs.push_back(node.in(i)), types.push_back(node.in(i)->dtype());
  ir::BodyBuilder b(types);
  std::uint16_t sum = 0;
  for (std::uint16_t i = 1; i < types.size(); ++i) sum = b.binary(ir::Prim::add, sum, i);
  if (types.size() > 1) product.body = b.finish({sum});
  else product.anchor_inputs = -1;
  return graph.add(std::move(product), 1, &node);
}

ir::Node* norm_of(ir::Graph& graph, ir::Node& node, ir::Value* product, bool kept) {
  ir::Node norm;
  const bool adds = !kept && node.in(5);
  norm.def = &graph.registry().get(adds ? "SumNorm" : "LayerNormalization"), norm.name = node.name;
  norm.sources.own = node.sources.behind;
  norm.attributes.set("epsilon", node.attributes.number("epsilon"));
  if (adds) norm.inputs = {node.in(2), node.in(3), product, nullptr, node.in(5)};
  else norm.inputs = {product, node.in(2), node.in(3)};
  return graph.add(std::move(norm), 1, &node);
}

}  // namespace

bool split_norm_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates) {
  if (node.op() != "ProductNorm") return false;
  const bool kept = node.outputs.size() > 1;
  for (int i = 4; i < 6; ++i)
    if (node.in(i) && node.in(i)->dtype() != node.in(0)->dtype()) return false;
  const std::int64_t together = best(candidates.of(node));
  ir::Node* product = product_of(graph, node, kept);
  ir::Node* norm = norm_of(graph, node, product->out(), kept);
  if (best(candidates.of(*product)) + best(candidates.of(*norm)) >= together) {
    graph.erase(*norm);
    graph.erase(*product);
    return false;
  }
  if (kept) graph.replace_uses(node.outputs[1], product->out());
  graph.replace_uses(node.outputs[0], norm->out());
  graph.erase(node);
  return true;
}

}  // namespace tenfold::tune
