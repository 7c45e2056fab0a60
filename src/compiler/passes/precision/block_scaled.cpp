#include "passes/precision/block_scaled.h"

#include <algorithm>

#include "ops/fold.h"
#include "passes/match.h"
#include "passes/precision/qdq.h"

namespace tenfold::passes {
namespace {

constexpr std::int64_t kBlockUnit = 16;   // kernels read so many rows at once

// A product's second operand, dequantized.
struct Weight {
  const ir::Node* node = nullptr;   // DequantizeLinear
  ir::Value* scale = nullptr;
  float factor = 1;                 // of the scale
  bool turned = false;              // the product sees it transposed
  std::int64_t k = 0, n = 0, block = 0;
};

bool is(DType type, Narrow form) {
  return form == Narrow::fp4 ? type == DType::f4e2m1 : type == DType::i4 || type == DType::u4 || type == DType::i8 || type == DType::u8;
}

// Neighbors of a column that share a scale: a block of its own along K, or all of it where scales lie along N. 0: they lie otherwise.
std::int64_t block_of(const Weight& w) {
  if (w.scale->constant->tensor.size() == 1) return w.k;
  const ir::Attributes& attributes = w.node->attributes;
  const std::int64_t rank = 2, axis = (attributes.integer("axis", 1) + rank) % rank, block = attributes.integer("block_size", 0);
  const bool along_k = axis == (w.turned ? 1 : 0);
  if (block == 0) return along_k ? 0 : w.k;
  return along_k && (block % kBlockUnit == 0 || block >= w.k) ? std::min(block, w.k) : 0;
}

// Scales of NVFP4 are e4m3 by a number, dequantized themselves.
void take_scale(Weight& w) {
  w.scale = w.node->in(1);
  const ir::Node* wide = made_by(w.scale, "DequantizeLinear");
  if (!wide || wide->in(2) || wide->in(0)->dtype() != DType::f8e4m3fn || w.node->in(0)->dtype() != DType::f4e2m1) return;
  if (const auto factor = scalar_of(wide->in(1))) w.scale = wide->in(0), w.factor = static_cast<float>(*factor);
}

bool stays_narrow(const Weight& w) {
  const DType type = w.scale->dtype();
  return w.node->in(0)->dtype() == DType::f4e2m1 && (type == DType::f8e8m0 || type == DType::f8e4m3fn);
}

Weight weight_of(const ir::Node& product, Narrow form) {
  Weight w;
  const ir::Value* value = product.in(1);
  if (const ir::Node* turn = made_by(value, "Transpose")) {
    if (value->rank() != 2 || turn->attributes.ints("perm", {1, 0}) != ir::Ints{1, 0}) return {};
    w.turned = true, value = turn->in(0);
  }
  w.node = made_by(value, "DequantizeLinear");
  if (!w.node || !is(w.node->in(0)->dtype(), form) || value->rank() != 2) return {};
  if (w.node->in(2) && is_float(w.node->in(0)->dtype())) return {};  // kernels know none
  take_scale(w);
  if (!w.node->in(0)->is_constant() || !w.scale->is_constant() || (w.node->in(2) && !w.node->in(2)->is_constant())) return {};
  const ir::Dims& dims = w.node->in(0)->dims();
  w.k = dims[w.turned ? 1 : 0].constant(), w.n = dims[w.turned ? 0 : 1].constant();
  if (w.k == 0 || w.n == 0) return {};
  w.block = block_of(w);
  return w.block > 0 ? w : Weight{};
}

// Scales or zero points as [blocks, N].
ir::Value* by_block(ir::Graph& graph, const Weight& w, ir::Value* v) {
  const std::int64_t blocks = (w.k + w.block - 1) / w.block, size = v->constant->tensor.size();
  if (size == 1 && blocks * w.n != 1) {
    v = ops::fold_reshape(graph, v, {1, 1}, v->name);
    Tensor shape(DType::i64, {2});
    shape.mutable_data<std::int64_t>()[0] = blocks, shape.mutable_data<std::int64_t>()[1] = w.n;
    return ops::fold(graph, "Expand", {v, graph.add_constant(std::move(shape))}, {}, v->name);
  }
  if (v->rank() == 2 && w.turned) return ops::fold(graph, "Transpose", {v}, {{"perm", ir::Ints{1, 0}}}, v->name);
  return v->rank() == 2 ? v : ops::fold_reshape(graph, v, {blocks, w.n}, v->name);
}

}  // namespace

// What quantized activations enter is a product of integers where those are permitted, and rounded alike where they are not.
bool fuse_block_scaled(ir::Graph& graph, ir::Node& node, Narrow form) {
  if (node.op() != "MatMul" || node.body || node.in(0)->dtype() != DType::f32 || is_dequantize(node.in(0)->producer)) return false;
  const Weight w = weight_of(node, form);
  if (!w.node) return false;
  std::vector<ir::Value*> operands{node.in(0), w.node->in(0), w.scale};
  if (w.turned) operands[1] = ops::fold(graph, "Transpose", {operands[1]}, {{"perm", ir::Ints{1, 0}}}, operands[1]->name);
  if (operands[2]->dtype() != DType::f32 && !stays_narrow(w))
    operands[2] = ops::fold(graph, "Cast", {operands[2]}, {{"to", "f32"}}, operands[2]->name);
  operands[2] = by_block(graph, w, operands[2]);
  if (w.node->in(2)) operands.push_back(by_block(graph, w, w.node->in(2)));
  ir::Node product;
  product.def = &graph.registry().get("MatMulBlockScaled");
  product.name = node.name, product.numerics = node.numerics, product.sources = node.sources;
  product.inputs = std::move(operands);
  product.attributes = {{"block_size", w.block}};
  if (w.factor != 1) product.attributes.set("scale_factor", w.factor);
  graph.replace_uses(node.out(), graph.add(std::move(product), 1, &node)->out());
  return true;
}

}  // namespace tenfold::passes
