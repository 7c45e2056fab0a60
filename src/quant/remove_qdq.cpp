// remove_qdq: a tensor that is quantised only to be dequantised for a product that stays float is left as it is.
//
// Products of two activations (attention) run in float, where the rounding costs time and accuracy and saves nothing. The pair also
// cuts off values, which may stand for a rectifier that an exporter dropped: it is removed only where the whole range was used on
// both sides of zero, or where the operand cannot be negative.
//
// before: (x f32[2,3,4], w f32[2,4,5])
//   s = f32[]{0.05}
//   z = u8[]{128}
//   q = QuantizeLinear(x, s, z)
//   d = DequantizeLinear(q, s, z)
//   y = MatMul(d, w)
// after: (x f32[2,3,4], w f32[2,4,5])
//   y = MatMul(x, w)
#include <algorithm>
#include <limits>

#include "passes/match.h"
#include "quant/qdq.h"

namespace tenfold::quant {
namespace {

bool never_negative(const ir::Value* value) {
  const ir::Node* node = value->producer;
  if (node == nullptr || node->body) return false;
  const std::string& op = node->op();
  if (op == "Softmax" || op == "Relu" || op == "Sigmoid") return true;
  if (op == "Where") {
    for (int i = 1; i < 3; ++i) {
      const ir::Value* v = node->in(i);
      const auto number = passes::scalar_of(v);
      if (!(number && *number >= 0) && !never_negative(v)) return false;
    }
    return true;
  }
  return (op == "Reshape" || op == "Transpose") && never_negative(node->in(0));
}

bool uses_both_signs(const Params& p) {
  const std::int32_t least = p.dtype == DType::i8 ? -128 : 0, most = p.dtype == DType::i8 ? 127 : 255;
  return p.zeros[0] > least && p.zeros[0] < most;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* node : graph.node_list()) {
    if (!is_dequantize(node) || !is_quantize(node->in(0)->producer) || graph.is_output(node->out())) continue;
    const ir::Node* quantize = node->in(0)->producer;
    const auto p = params_of(node);
    if (!p || p != params_of(quantize) || !p->per_tensor() || (p->dtype != DType::u8 && p->dtype != DType::i8)) continue;
    const std::vector<ir::Node*>& users = node->out()->users;
    const auto is_product = [](const ir::Node* user) { return user->op() == "MatMul" || user->op() == "Shape"; };
    if (users.empty() || !std::all_of(users.begin(), users.end(), is_product)) continue;
    if (!uses_both_signs(*p) && !never_negative(quantize->in(0))) continue;
    graph.replace_uses(node->out(), quantize->in(0));
    changed = true;
  }
  return changed;
}

}  // namespace

passes::Pass pass_remove_qdq() { return {.name = "remove_qdq", .run = run}; }

}  // namespace tenfold::quant
