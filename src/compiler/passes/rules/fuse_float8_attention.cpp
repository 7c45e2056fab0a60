// fuse_float8_attention: an attention whose queries, keys, values and softmax the model quantizes to e4m3 becomes one
// AttentionFloat8. Its softmax gets a scale of the kernel's own, finer than the model's. The quantization of an operand moves up past
// operators that only move elements, to the GEMM that makes it. If another operand is not quantized, the attention stays in floats.
// For GPUs.
//
// before: (q f8e4m3fn[1,2,8,4], x f32[1,8,2,4], v f8e4m3fn[1,2,8,4], m f32[1,1,8,8])
//   s = f32[]{0.5}
//   z = f8e4m3fn[]{0}
//   ps = f32[]{0.00390625}
//   k = Transpose(x) perm=[0,2,3,1]
//   kq = QuantizeLinear(k, s, z)
//   kd = DequantizeLinear(kq, s, z)
//   qd = DequantizeLinear(q, s, z)
//   vd = DequantizeLinear(v, s, z)
//   a = MatMul(qd, kd)
//   b = Add(a, m)
//   p = Softmax(b)
//   pq = QuantizeLinear(p, ps, z)
//   pd = DequantizeLinear(pq, ps, z)
//   y = MatMul(pd, vd)
// after: (q f8e4m3fn[1,2,8,4], x f32[1,8,2,4], v f8e4m3fn[1,2,8,4], m f32[1,1,8,8])
//   s = f32[]{0.5}
//   z = f8e4m3fn[]{0}
//   xq = QuantizeLinear(x, s, z)
//   k = Transpose(xq) perm=[0,2,3,1]
//   kt = Transpose(k) perm=[0,1,3,2]
//   y = AttentionFloat8(q, kt, v, m) nan_rows=1 scale=0.25 value_scale=0.5
//
// kept: (q f32[1,2,8,4], k f32[1,2,4,8], v f8e4m3fn[1,2,8,4])
//   s = f32[]{0.5}
//   z = f8e4m3fn[]{0}
//   vd = DequantizeLinear(v, s, z)
//   a = MatMul(q, k)
//   p = Softmax(a)
//   y = MatMul(p, vd)
#include <cmath>

#include "passes/attention_fusion.h"
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"
#include "passes/precision/qdq.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr float kLargest = 448;

// The one scale of a QuantizeLinear or DequantizeLinear of e4m3.
std::optional<float> scale_of(const Node* node) {
  const auto p = params_of(node, true);
  if (!p || p->dtype != DType::f8e4m3fn || !p->per_tensor() || p->zeros[0] != 0) return {};
  return p->scales[0];
}

bool moves(const Node* n) { return n && !n->body && n->outputs.size() == 1 && (n->op() == "Transpose" || is_reshape(*n)); }

Value* moved_like(ir::Graph& graph, const Node& movement, Value* x, Node* before) {
  std::vector<Value*> inputs = movement.inputs;
  inputs[0] = x;
  return graph.add_like(movement, std::move(inputs), before)->out();
}

// The same quantized value, with what quantizes it in front of what moves it.
Value* quantized_first(ir::Graph& graph, Value* small, Node* before) {
  const Node* q = small->producer;
  if (!is_quantize(q) || !scale_of(q) || small->users.size() != 1) return small;
  std::vector<const Node*> movements;
  Value* source = q->in(0);
  for (; moves(source->producer) && only_user(graph, source); source = source->producer->in(0)) movements.push_back(source->producer);
  if (movements.empty()) return small;
  Value* x = graph.make("QuantizeLinear", {source, q->in(1), q->in(2)}, q->attributes, before);
  for (auto m = movements.rbegin(); m != movements.rend(); ++m) x = moved_like(graph, **m, x, before);
  return x;
}

struct Small {
  Value* value = nullptr;   // null: it is wide
  float scale = 1;
};
Small small_of(ir::Graph& graph, Value* v, Node* before) {
  Node* n = v->producer;
  if (is_dequantize(n)) {
    const auto scale = scale_of(n);
    return scale ? Small{quantized_first(graph, n->in(0), before), *scale} : Small{};
  }
  if (!moves(n)) return {};
  const Small from = small_of(graph, n->in(0), before);
  return from.value ? Small{moved_like(graph, *n, from.value, before), from.scale} : Small{};
}

// Takes quantization off the softmax that a product reads, if it cut off nothing. Gives its scale, nothing if it is another operand.
struct Weights {
  Value *softmax = nullptr, *scale = nullptr, *zero = nullptr;
};
std::optional<Weights> take_weights(ir::Graph& graph, Node& product) {
  Node* d = product.in(0)->producer;
  Node* q = is_dequantize(d) ? d->in(0)->producer : nullptr;
  if (!is_quantize(q) || !only_user(graph, d->out()) || !only_user(graph, q->out())) return {};
  const auto scale = scale_of(q);
  if (!scale || scale != scale_of(d) || *scale * kLargest < 1) return {};
  const Weights w{q->in(0), q->in(1), q->in(2)};
  graph.set_input(product, 0, w.softmax);
  graph.erase(*d);
  graph.erase(*q);
  return w;
}
void put_back(ir::Graph& graph, Node& product, const Weights& w) {
  Value* q = graph.make("QuantizeLinear", {w.softmax, w.scale, w.zero}, {}, &product);
  graph.set_input(product, 0, graph.make("DequantizeLinear", {q, w.scale, w.zero}, {}, &product));
}

bool try_fuse(ir::Graph& graph, Node& product) {
  if (product.op() != "MatMul" || product.body) return false;
  const std::optional<Weights> weights = take_weights(graph, product);
  if (!weights) return false;
  Node* wide = fuse_attention_at(graph, product);
  if (!wide) return put_back(graph, product, *weights), false;
  const ir::Dims &q = wide->in(0)->dims(), &v = wide->in(2)->dims();
  if (!q[3].is_constant() || !v[3].is_constant()) return true;
  std::vector<Value*> operands;
  float scales[3];
  for (int i = 0; i < 3; ++i) {
    const Small small = small_of(graph, wide->in(i), wide);
    if (!small.value) return true;
    operands.push_back(small.value), scales[i] = small.scale;
  }
  if (wide->in(3)) operands.push_back(wide->in(3));
  const float scale = wide->attributes.number("scale") * scales[0] * scales[1];
  ir::Attributes attributes{{"scale", scale}, {"value_scale", scales[2]}};
  if (wide->attributes.has("nan_rows")) attributes.set("nan_rows", wide->attributes.integer("nan_rows"));
  graph.replace_uses(wide->out(), graph.make("AttentionFloat8", operands, attributes, wide));
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_fuse); }

}  // namespace

Pass pass_fuse_float8_attention() { return {.name = "fuse_float8_attention", .run = run}; }

}  // namespace tenfold::passes
