// remove_qdq: a tensor that is quantized only to be dequantized for a GEMM of two activations is left in floats.
//
// Such GEMMs (attention) run in floats, where the rounding costs time and accuracy and saves nothing. Before a GEMM or convolution
// with weights the pair stays, whatever the device computes it in: results are the quantized model's. The pair also clips values,
// which may stand for a ReLU that an exporter dropped: it is removed only if the whole range was used on both sides of zero, or if
// the operand cannot be negative.
//
// before: (x f32[2,3,4], w f32[2,4,5])
//   s = f32[]{0.05}
//   z = u8[]{128}
//   q = QuantizeLinear(x, s, z)
//   d = DequantizeLinear(q, s, z)
//   y = MatMul(d, w)
// after: (x f32[2,3,4], w f32[2,4,5])
//   y = MatMul(x, w)
//
// Attention of e4m3 that became no kernel of e4m3 (fuse_float8_attention, before this) is no better off.
//
// before: (x f32[2,3,4], w f32[2,4,5])
//   s = f32[]{0.05}
//   z = f8e4m3fn[]{0}
//   q = QuantizeLinear(x, s, z)
//   d = DequantizeLinear(q, s, z)
//   y = MatMul(d, w)
// after: (x f32[2,3,4], w f32[2,4,5])
//   y = MatMul(x, w)
#include <algorithm>
#include <limits>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/precision/qdq.h"
#include "quant/never_negative.h"

namespace tenfold::passes {
namespace {

bool uses_both_signs(const Params& p) {
  if (p.dtype == DType::f8e4m3fn) return true;
  const std::int32_t min = p.dtype == DType::i8 ? -128 : 0, max = p.dtype == DType::i8 ? 127 : 255;
  return p.zeros[0] > min && p.zeros[0] < max;
}

// Known when the plan is built, as it is or dequantized, moved about or cast.
bool is_weight(const ir::Value* value) {
  const ir::Node* node = value->producer;
  if (value->is_constant()) return true;
  if (node == nullptr || node->inputs.empty() || node->op() == "Shape") return false;
  return std::all_of(node->inputs.begin(), node->inputs.end(), [](const ir::Value* v) { return v == nullptr || is_weight(v); });
}

bool spares(const ir::Node* user, const ir::Value* value) {
  return user->op() == "Shape" || (user->op() == "MatMul" && !is_weight(passes::other(*user, value)));
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* node : graph.node_list()) {
    if (!is_dequantize(node) || !is_quantize(node->in(0)->producer) || graph.is_output(node->out())) continue;
    const ir::Node* quantize = node->in(0)->producer;
    const auto p = params_of(node, true);
    const bool of_eight_bits = p && (p->dtype == DType::u8 || p->dtype == DType::i8 || p->dtype == DType::f8e4m3fn);
    if (!of_eight_bits || p != params_of(quantize, true) || !p->per_tensor()) continue;
    const std::vector<ir::Node*>& users = node->out()->users;
    if (users.empty() || !std::all_of(users.begin(), users.end(), [&](const auto* user) { return spares(user, node->out()); })) continue;
    if (!uses_both_signs(*p) && !quant::never_negative(quantize->in(0), scalar_of)) continue;
    node->out()->names.clear();   // the rounded numbers are nowhere any more
    graph.replace_uses(node->out(), quantize->in(0));
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_remove_qdq() { return {.name = "remove_qdq", .run = run}; }

}  // namespace tenfold::passes
