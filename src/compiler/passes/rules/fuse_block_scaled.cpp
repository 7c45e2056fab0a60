// fuse_block_scaled: a product with a dequantized constant of 4 or 8 bits keeps the constant as narrow as it is. Its kernels make floats of
// it in registers, or on a CPU in caches for many rows.
//
// before: (x f32[2,32])
//   w = constant i4[32,4]
//   s = constant f32[2,4]
//   b = DequantizeLinear(w, s) axis=0 block_size=16
//   y = MatMul(x, b)
// after: (x f32[2,32])
//   w = constant i4[32,4]
//   s = constant f32[2,4]
//   y = MatMulBlockScaled(x, w, s) block_size=16
//
// before: (x f32[2,32])
//   w = constant i8[4,32]
//   s = constant f32[4]
//   z = constant i8[4]
//   b = DequantizeLinear(w, s, z) axis=0
//   t = Transpose(b) perm=[1,0]
//   y = MatMul(x, t)
// after: (x f32[2,32])
//   w = constant i8[32,4]
//   s = constant f32[1,4]
//   z = constant i8[1,4]
//   y = MatMulBlockScaled(x, w, s, z) block_size=32
//
// kept: (x f32[2,32])
//   w = constant i4[32,4]
//   s = constant f32[32,1]
//   b = DequantizeLinear(w, s) axis=1 block_size=4
//   y = MatMul(x, b)
//
// kept: (x f32[2,32], w i4[32,4], s f32[2,4])
//   b = DequantizeLinear(w, s) axis=0 block_size=16
//   y = MatMul(x, b)
#include <algorithm>

#include "ops/fold.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/precision/qdq.h"

namespace tenfold::passes {
namespace {

constexpr std::int64_t kBlockUnit = 16;   // kernels read so many rows at once

// A product's second operand, dequantized.
struct Weight {
  const ir::Node* node = nullptr;   // DequantizeLinear
  bool turned = false;              // the product sees it transposed
  std::int64_t k = 0, n = 0, block = 0;
};

bool is_narrow(DType type) { return type == DType::i4 || type == DType::u4 || type == DType::i8 || type == DType::u8; }

// Neighbors of a column that share a scale: a block of its own along K, or all of it where scales lie along N. 0: they lie otherwise.
std::int64_t block_of(const Weight& w) {
  const ir::Value& scale = *w.node->in(1);
  if (scale.constant->tensor.size() == 1) return w.k;
  const ir::Attributes& attributes = w.node->attributes;
  const std::int64_t rank = 2, axis = (attributes.integer("axis", 1) + rank) % rank, block = attributes.integer("block_size", 0);
  const bool along_k = axis == (w.turned ? 1 : 0);
  if (block == 0) return along_k ? 0 : w.k;
  return along_k && (block % kBlockUnit == 0 || block >= w.k) ? std::min(block, w.k) : 0;
}

Weight weight_of(const ir::Node& product) {
  Weight w;
  const ir::Value* value = product.in(1);
  if (const ir::Node* turn = made_by(value, "Transpose")) {
    if (value->rank() != 2 || turn->attributes.ints("perm", {1, 0}) != ir::Ints{1, 0}) return {};
    w.turned = true, value = turn->in(0);
  }
  w.node = made_by(value, "DequantizeLinear");
  if (!w.node || !ops::operands_constant(*w.node) || !is_narrow(w.node->in(0)->dtype()) || value->rank() != 2) return {};
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

// What quantized activations enter is a product of integers where those are permitted, and rounded alike where they are not.
bool fuse(ir::Graph& graph, ir::Node& node) {
  if (node.op() != "MatMul" || node.body || node.in(0)->dtype() != DType::f32 || is_dequantize(node.in(0)->producer)) return false;
  const Weight w = weight_of(node);
  if (!w.node) return false;
  std::vector<ir::Value*> operands{node.in(0), w.node->in(0), w.node->in(1)};
  if (w.turned) operands[1] = ops::fold(graph, "Transpose", {operands[1]}, {{"perm", ir::Ints{1, 0}}}, operands[1]->name);
  if (operands[2]->dtype() != DType::f32) operands[2] = ops::fold(graph, "Cast", {operands[2]}, {{"to", "f32"}}, operands[2]->name);
  operands[2] = by_block(graph, w, operands[2]);
  if (w.node->in(2)) operands.push_back(by_block(graph, w, w.node->in(2)));
  ir::Node product;
  product.def = &graph.registry().get("MatMulBlockScaled");
  product.name = node.name, product.numerics = node.numerics, product.sources = node.sources;
  product.inputs = std::move(operands);
  product.attributes = {{"block_size", w.block}};
  graph.replace_uses(node.out(), graph.add(std::move(product), 1, &node)->out());
  return true;
}

}  // namespace

Pass pass_fuse_block_scaled() {
  return {.name = "fuse_block_scaled", .run = [](ir::Graph& graph) { return try_each(graph, fuse); }};
}

}  // namespace tenfold::passes
