#include "passes/precision/numerics.h"

#include <algorithm>
#include <utility>

namespace tenfold::passes {
namespace {

// Operators with tactics that round f32, or that fusion makes of such.
bool multiplies(const ir::Node& n) {
  static constexpr std::string_view kProducts[] = {"MatMul", "Conv", "ConvTranspose", "FusedAttention", "ConvMaxPool", "ProductNorm",
                                                   "ExpandDepthwise"};
  return std::find(std::begin(kProducts), std::end(kProducts), n.op()) != std::end(kProducts) && n.in(0) && n.in(0)->dtype() == DType::f32;
}

// The flags that give leave.
struct Leave {
  bool bf16, tf32, winograd, strassen, fast_exp;
  Leave(const BuildConfig& config, const backends::DeviceTraits& device)
      : bf16(config.bf16 && device.bf16_products), tf32(config.tf32), winograd(config.winograd && device.host_arithmetic),
        strassen(config.strassen && device.host_arithmetic), fast_exp(config.fast_exp && device.host_arithmetic) {}

  ir::Rounding rounding_of(const ir::Node& n) const {
    const ir::Rounding before = n.numerics.round_to;
    if (!multiplies(n) || before == ir::Rounding::f16 || before == ir::Rounding::bf16) return before;
    return bf16 ? ir::Rounding::bf16 : tf32 ? ir::Rounding::tf32 : ir::Rounding::none;
  }
  ir::Numerics of(const ir::Node& n) const {
    const bool f32 = n.in(0) && n.in(0)->dtype() == DType::f32;
    return {rounding_of(n), winograd && f32 && n.op() == "Conv", strassen && f32 && n.op() == "MatMul",
            fast_exp && (n.op() == "Softmax" || n.op() == "LogSoftmax")};
  }
};

}  // namespace

Pass pass_permit_rounding(const BuildConfig& config, const backends::DeviceTraits& device) {
  return {.name = "permit_rounding", .run = [leave = Leave(config, device)](ir::Graph& graph) {
            bool changed = false;
            for (const auto& n : graph.nodes()) changed |= std::exchange(n->numerics, leave.of(*n)) != n->numerics;
            return changed;
          }};
}

void permit_again(ir::Graph& graph, const BuildConfig& config, const backends::DeviceTraits& device) {
  const Leave leave(config, device);
  for (const auto& n : graph.nodes()) {
    for (const auto& body : n->graphs) permit_again(*body, config, device);
    n->numerics.round_to = leave.rounding_of(*n);
    n->numerics.winograd &= config.winograd;
    n->numerics.strassen &= config.strassen;
    n->numerics.fast_exp &= config.fast_exp;
  }
}

}  // namespace tenfold::passes
