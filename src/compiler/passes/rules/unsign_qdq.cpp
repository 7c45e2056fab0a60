// unsign_qdq: activations quantized to i8 become u8 with a zero point that is 128 larger, which represent the same numbers.
//
// CPUs without AMX multiply unsigned by signed bytes, so each signed value is shifted by 128 when it is loaded, on units that could
// multiply meanwhile (ResNet-50 takes 1.25 of its time with AVX-512 VNNI).
//
// before: (x f32[2,3,4])
//   s = f32[]{0.05}
//   z = i8[]{3}
//   q = QuantizeLinear(x, s, z)
//   y = DequantizeLinear(q, s, z)
// after: (x f32[2,3,4])
//   s = f32[]{0.05}
//   z = u8[]{131}
//   q = QuantizeLinear(x, s, z)
//   y = DequantizeLinear(q, s, z)
#include <algorithm>

#include "passes/pass.h"
#include "passes/precision/qdq.h"

namespace tenfold::passes {
namespace {

// Null where others than its dequantization see the bytes.
std::optional<Params> signed_params(const ir::Graph& graph, const ir::Node* node) {
  if (!is_quantize(node) || node->in(0)->is_constant() || graph.is_output(node->out())) return {};
  const auto p = params_of(node);
  if (!p || p->dtype != DType::i8 || !p->per_tensor()) return {};
  const std::vector<ir::Node*>& users = node->out()->users;
  const bool alone = !users.empty() && std::all_of(users.begin(), users.end(), [&](const ir::Node* user) {
    return is_dequantize(user) && user->in(0) == node->out() && params_of(user) == p;
  });
  return alone ? p : std::nullopt;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* node : graph.node_list()) {
    const auto p = signed_params(graph, node);
    if (!p) continue;
    Tensor zero(DType::u8, node->in(1)->constant->tensor.shape());
    *static_cast<std::uint8_t*>(zero.mutable_raw()) = static_cast<std::uint8_t>(p->zeros[0] + 128);
    ir::Value* const z = graph.add_constant(std::move(zero));
    ir::Attributes attributes = node->attributes;
    attributes.erase("output_dtype");   // the zero point says it
    ir::Value* const q = graph.make("QuantizeLinear", {node->in(0), node->in(1), z}, attributes, node);
    const std::vector<ir::Node*> users = node->out()->users;
    for (ir::Node* user : users)
      graph.replace_uses(user->out(), graph.make("DequantizeLinear", {q, user->in(1), z}, user->attributes, user));
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_unsign_qdq() { return {.name = "unsign_qdq", .run = run}; }

}  // namespace tenfold::passes
