#include "passes/precision/numerics.h"

#include <utility>

namespace tenfold::passes {
namespace {

// The flags that give permissions. What they mean to an operator, it says itself (ir::Permission).
struct Flags {
  bool permits_bf16, has_bf16, convolutions, products, winograd, strassen, fast_exp;
  Flags(const BuildConfig& config, const backends::DeviceTraits& device)
      : permits_bf16(config.bf16),
        has_bf16(device.bf16_gemm),
        convolutions(config.tf32 && config.tf32_convolutions),
        products(config.tf32 && config.tf32_matmul),
        winograd(config.winograd && device.host_arithmetic),
        strassen(config.strassen && device.host_arithmetic),
        fast_exp(config.fast_exp && device.host_arithmetic) {}

  ir::Rounding rounding_of(const ir::Node& n) const {
    const ir::Rounding before = n.numerics.round_to;
    if (n.numerics.exact) return ir::Rounding::none;
    if (!n.def->traits.permission.rounding || !is_f32(n) || before == ir::Rounding::f16 || before == ir::Rounding::bf16) return before;
    const bool bf16 = n.numerics.type ? n.numerics.type == DType::bf16 && has_bf16 : permits_bf16 && has_bf16;
    const bool tf32 = n.def->traits.permission.convolves ? convolutions : products;
    return bf16 ? ir::Rounding::bf16 : tf32 ? ir::Rounding::tf32 : ir::Rounding::none;
  }
  ir::Numerics of(const ir::Node& n) const {
    const ir::Permission& may = n.def->traits.permission;
    if (n.numerics.exact) return {.exact = true};
    return {.round_to = rounding_of(n),
            .winograd = winograd && is_f32(n) && may.winograd,
            .strassen = strassen && is_f32(n) && may.strassen,
            .fast_exp = fast_exp && may.fast_exp,
            .type = stays_f32(n) ? n.numerics.type : std::nullopt};
  }
  static bool stays_f32(const ir::Node& n) { return n.def->traits.permission.rounding && is_f32(n) && n.numerics.type == DType::f32; }
  static bool is_f32(const ir::Node& n) { return n.in(0) && n.in(0)->dtype() == DType::f32; }
};

}  // namespace

Pass pass_permit_rounding(const BuildConfig& config, const backends::DeviceTraits& device) {
  return {.name = "permit_rounding", .run = [flags = Flags(config, device)](ir::Graph& graph) {
            bool changed = false;
            for (const auto& n : graph.nodes()) changed |= std::exchange(n->numerics, flags.of(*n)) != n->numerics;
            return changed;
          }};
}

void permit_again(ir::Graph& graph, const BuildConfig& config, const backends::DeviceTraits& device) {
  const Flags flags(config, device);
  for (const auto& n : graph.nodes()) {
    for (const auto& body : n->graphs) permit_again(*body, config, device);
    n->numerics.round_to = flags.rounding_of(*n);
    n->numerics.winograd &= config.winograd;
    n->numerics.strassen &= config.strassen;
    n->numerics.fast_exp &= config.fast_exp;
  }
}

}  // namespace tenfold::passes
