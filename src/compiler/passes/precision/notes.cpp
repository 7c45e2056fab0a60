#include "passes/precision/notes.h"

#include <algorithm>

#include "base/check.h"
#include "passes/precision/layer_types.h"
#include "passes/precision/qdq.h"
#include "quant/calibrator.h"

namespace tenfold::passes {
namespace {

bool has_float8(const ir::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const auto& n) { return is_dequantize(n.get()) && n->in(0)->dtype() == DType::f8e4m3fn; });
}

bool fp8_requested(const BuildConfig& config) {
  const auto& calibration = config.calibration;
  return calibration && std::count(calibration->types.begin(), calibration->types.end(), DType::f8e4m3fn) > 0;
}

bool has_fused_attention(const ir::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& n) {
    return n->op() == "FusedAttention" ||
           std::any_of(n->graphs.begin(), n->graphs.end(), [](const auto& body) { return has_fused_attention(*body); });
  });
}

}  // namespace

std::vector<std::string> refused_precisions(const ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device) {
  const backends::DeviceTraits traits = backends::traits_of(device);
  std::vector<std::string> refused;
  if (backends::kind_of(device) == backends::DeviceKind::gpu && config.fp16 && !traits.half_values)
    refused.push_back(cat("fp16 was allowed, but this GPU (sm_", device.arch, ") is slow in it before sm_60: f32 is used"));
  if (traits.half_values) {
    if (config.fp8 && !traits.float8_gemm && has_float8(graph))
      refused.push_back(cat("this GPU (sm_", device.arch, ") has no e4m3 GEMMs, sm_", backends::kFirstArchWithFloat8,
                            " is the first with them: those that the model quantizes so compute in wider floats"));
    if (fp8_requested(config) && !traits.float8_gemm)
      refused.push_back(cat("fp8 was allowed, but this GPU (sm_", device.arch, ") has no e4m3 GEMMs; sm_",
                            backends::kFirstArchWithFloat8, " is the first with them"));
    return refused;
  }
  if (!traits.host_arithmetic) return refused;
  if (has_float8(graph))
    refused.emplace_back("CPUs have no e4m3 GEMMs: layers that the model quantizes to e4m3 compute in f32, on rounded operands");
  if (fp8_requested(config)) refused.emplace_back("fp8 was allowed, but CPUs have no e4m3 GEMMs; use --int8");
  if (config.fp16)
    refused.emplace_back(
        "fp16 was allowed, but CPUs here have no fp16 arithmetic that pays: f32 is used; a GPU has it (--device=cuda:0), and "
        "bf16 saves time on a CPU that has AMX");
  if (config.bf16 && !traits.bf16_gemm)
    refused.emplace_back("bf16 was allowed, but this machine has no AMX bf16: f32 is used");
  return refused;
}

std::vector<std::string> unused_precisions(const ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device) {
  const backends::DeviceTraits traits = backends::traits_of(device);
  const std::map<DType, int> layers = layers_by_type(graph);
  std::vector<std::string> unused;
  if (config.fp16 && traits.half_values && !layers.count(DType::f16))
    unused.emplace_back("fp16 was allowed, and no layer computes in it: none has a form of 16 bits whose values fp16 holds");
  if (config.bf16 && (traits.bf16_gemm || (traits.half_values && !config.fp16)) && !layers.count(DType::bf16))
    unused.emplace_back("bf16 was allowed, and no layer computes in it: none has a form of 16 bits");
  if (config.bf16 && traits.half_values && config.fp16)
    unused.emplace_back("bf16 was allowed beside fp16, which goes before it: it has three more bits of fraction");
  const bool by_rows = config.calibration && config.calibration->method == quant::kDynamic;
  if (by_rows && !layers.count(DType::i8) && !layers.count(DType::f8e4m3fn))
    unused.emplace_back("int8 was allowed without ranges, and no layer computes in it: it is for GEMMs with constant weights and "
                        "K >= 32, on a GPU a multiple of 16");
  else if (config.calibration && !by_rows && !layers.count(DType::i8) && !layers.count(DType::f8e4m3fn))
    unused.emplace_back("int8 or fp8 was allowed with a calibration, and no layer computes in it: no GEMM or convolution with constant "
                        "weights that this device supports in 8 bits has a range");
  return unused;
}

void warn_of_fused_attention(const ir::Graph& graph, const BuildConfig& config, const backends::DeviceTraits& device) {
  if (device.host_arithmetic && !config.fast_exp && has_fused_attention(graph))
    Log(config.log)(Severity::warning, "attention that is one operator already keeps its fast exponential under --noFastExp");
}

void log_quantized_types(const ir::Graph& graph, bool quantized, const Log& log) {
  if (!quantized)
    return log(Severity::verbose, "int8 and e4m3 are for models with QuantizeLinear and DequantizeLinear, of which this one has none");
  int integers = 0, floats8 = 0, floats = 0;
  for (const auto& n : graph.nodes()) {
    const ir::OpTraits& traits = n->def->traits;
    if (traits.accumulates && traits.gemm_kind != ir::GemmKind::none) ++(is_float(n->in(0)->dtype()) ? floats8 : integers);
    else floats += traits.gemm_kind != ir::GemmKind::none && n->in(1)->is_constant();
  }
  log(Severity::info, "of the quantized model's GEMMs and convolutions ", integers, " compute in int8, ", floats8, " in e4m3, ", floats,
      " in floats, because they are not quantized on both sides or not as tensor cores take it");
}

}  // namespace tenfold::passes
