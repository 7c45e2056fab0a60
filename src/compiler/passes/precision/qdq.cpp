#include "passes/precision/qdq.h"

#include <algorithm>

#include "ir/recipe.h"

namespace tenfold::passes {
namespace {
constexpr std::string_view kBuiltIn = "built into the plan as a parameter of its quantization";
}  // namespace

bool is_quantize(const ir::Node* node) { return node != nullptr && node->op() == "QuantizeLinear"; }
bool is_dequantize(const ir::Node* node) { return node != nullptr && node->op() == "DequantizeLinear"; }

std::optional<Params> params_of(const ir::Node* node, bool float8) {
  const bool quantize = is_quantize(node);
  if (!quantize && !is_dequantize(node)) return {};
  const ir::Value *scale = node->in(1), *zero = node->in(2);
  const ir::Value *wide = quantize ? node->in(0) : node->out(), *narrow = quantize ? node->out() : node->in(0);
  if (node->body || node->attributes.integer("block_size", 0) != 0) return {};
  if (!scale->is_constant() || (zero != nullptr && !zero->is_constant())) return {};
  if (scale->dtype() != DType::f32 || wide->dtype() != DType::f32) return {};
  Params p;
  p.dtype = narrow->dtype();
  const bool is_float8 = p.dtype == DType::f8e4m3fn && float8 && !(quantize && node->attributes.integer("saturate", 1) == 0);
  if (!is_float8 && p.dtype != DType::u8 && p.dtype != DType::i8 && p.dtype != DType::u16 && p.dtype != DType::i16) return {};
  const std::int64_t count = scale->constant->tensor.size();
  // One scale goes into the code of the steps, and zero points decide what that code is; a scale per channel stays an operand.
  if (count == 1) ir::fix(*scale->constant, kBuiltIn);
  if (zero != nullptr) ir::fix(*zero->constant, kBuiltIn);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto s = static_cast<float>(scale->constant->tensor.as_double(i));
    if (!(s > 0)) return {};
    p.scales.push_back(s);
    const std::int64_t z = zero == nullptr ? 0 : zero->constant->tensor.as_int(zero->constant->tensor.size() == 1 ? 0 : i);
    p.zeros.push_back(static_cast<std::int32_t>(z));
  }
  if (count == 0) return {};
  const auto axis = static_cast<int>(node->attributes.integer("axis", 1));
  p.axis = p.per_tensor() ? 0 : axis < 0 ? axis + node->in(0)->rank() : axis;
  return p;
}

bool is_quantized(const ir::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& n) { return is_dequantize(n.get()); });
}

}  // namespace tenfold::passes
