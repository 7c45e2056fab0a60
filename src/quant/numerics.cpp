// What the user lets be rounded or approximated, written at the nodes that tactics are asked for (ir/numerics.h).
#include "quant/numerics.h"

#include <algorithm>

#include "base/log.h"

namespace tenfold::quant {
namespace {

// Operators with tactics that round f32, or that fusion makes of such.
bool multiplies(const ir::Node& n) {
  static constexpr std::string_view kProducts[] = {"MatMul", "Conv", "ConvTranspose", "FusedAttention", "ConvMaxPool", "ProductNorm",
                                                   "ExpandDepthwise"};
  return std::find(std::begin(kProducts), std::end(kProducts), n.op()) != std::end(kProducts) && n.in(0) && n.in(0)->dtype() == DType::f32;
}

ir::Rounding leave(const ir::Node& n, const BuildConfig& config, const backends::DeviceInfo& device) {
  const ir::Rounding before = n.numerics.round_to;
  if (!multiplies(n) || before == ir::Rounding::f16 || before == ir::Rounding::bf16) return before;
  if (config.bf16 && device.kind == "cpu" && (device.features & backends::kAmxBf16)) return ir::Rounding::bf16;
  return config.tf32 ? ir::Rounding::tf32 : ir::Rounding::none;
}

bool has_fused_attention(const ir::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& n) {
    return n->op() == "FusedAttention" ||
           std::any_of(n->graphs.begin(), n->graphs.end(), [](const auto& body) { return has_fused_attention(*body); });
  });
}

}  // namespace

void permit(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device) {
  const bool cpu = device.kind == "cpu";   // no other device has these algorithms
  for (const auto& n : graph.nodes()) {
    for (const auto& body : n->graphs) permit(*body, config, device);
    const bool f32 = n->in(0) && n->in(0)->dtype() == DType::f32;
    n->numerics.round_to = leave(*n, config, device);
    n->numerics.winograd = config.winograd && cpu && f32 && n->op() == "Conv";
    n->numerics.strassen = config.strassen && cpu && f32 && n->op() == "MatMul";
    n->numerics.fast_exp = config.fast_exp && cpu && (n->op() == "Softmax" || n->op() == "LogSoftmax");
  }
}

void permit_again(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device) {
  for (const auto& n : graph.nodes()) {
    for (const auto& body : n->graphs) permit_again(*body, config, device);
    n->numerics.round_to = leave(*n, config, device);
    n->numerics.winograd &= config.winograd;
    n->numerics.strassen &= config.strassen;
    n->numerics.fast_exp &= config.fast_exp;
  }
}

void tell_of_fused_attention(const ir::Graph& graph, const BuildConfig& config) {
  if (!config.fast_exp && has_fused_attention(graph))
    Log(config.log)(Severity::warning, "attention that is one operator already keeps its fast exponential under --noFastExp");
}

}  // namespace tenfold::quant
