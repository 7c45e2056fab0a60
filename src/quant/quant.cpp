// The precision stage in order.
#include "quant/quant.h"

#include "base/log.h"
#include "ir/text.h"
#include "quant/qdq.h"

namespace tenfold::quant {

void apply(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device) {
  const Log log(config.log);
  passes::RunOptions options{.disabled = config.disabled_passes};
  if (config.dump) options.changed = [&config](std::string_view pass, const ir::Graph& changed) { config.dump(pass, ir::print(changed)); };
  passes::run(graph, config.int8 ? qdq_passes() : std::vector<passes::Pass>{pass_lower_qdq()}, options);
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
