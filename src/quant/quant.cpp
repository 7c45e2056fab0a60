// The precision stage in order.
#include "quant/quant.h"

#include "base/log.h"

namespace tenfold::quant {

void apply(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device) {
  const Log log(config.log);
  if (config.bf16) {
    if (!(device.features & backends::kAmxBf16)) {
      log(Severity::info, "bf16 was allowed, but this machine has no AMX bf16: f32 is used");
    } else {
      for (const auto& n : graph.nodes())
        if (n->op() == "MatMul" || n->op() == "Conv" || n->op() == "Gemm" || n->op() == "ConvTranspose") n->attributes.set("precision", std::string("bf16"));
    }
  }
}

}  // namespace tenfold::quant
