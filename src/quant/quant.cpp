// The precision stage in order.
#include "quant/quant.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "ir/text.h"
#include "quant/narrow_floats.h"
#include "quant/numerics.h"
#include "quant/qdq.h"

namespace tenfold::quant {

namespace {

constexpr int kFirstWithFloat8 = 89;

// What became of a quantised model's products.
void tell(const ir::Graph& graph, const Log& log) {
  int integers = 0, floats8 = 0, floats = 0;
  for (const auto& n : graph.nodes()) {
    integers += n->op() == "MatMulInteger" || n->op() == "ConvInteger";
    floats8 += n->op() == "MatMulFloat8";
    floats += (n->op() == "MatMul" || n->op() == "Conv") && n->in(1)->is_constant();
  }
  log(Severity::info, "of the quantised model's products with weights ", integers, " compute in int8, ", floats8, " in e4m3, ", floats,
      " in floats, because they are not quantised on both sides or not as tensor cores take it");
}

// fp16 goes before bf16 where both are allowed: three more bits of fraction, and what overflows it stays wide.
void apply_on_gpu(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device, const passes::RunOptions& options,
                  const std::set<std::string>& wide) {
  const auto& nodes = graph.nodes();
  const bool quantised = std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return is_dequantize(n.get()); });
  passes::run(graph, qdq_passes_for_gpu(config.int8, config.fp8 && device.arch >= kFirstWithFloat8), options);
  const Log log(config.log, Severity::verbose);
  if (quantised)
    tell(graph, log);
  else
    log(Severity::verbose, "int8 and e4m3 are for models with QuantizeLinear and DequantizeLinear, of which this one has none");
  const auto disabled = std::find(options.disabled.begin(), options.disabled.end(), "narrow_floats") != options.disabled.end();
  if (!disabled && (config.fp16 || config.bf16)) {
    narrow_floats(graph, config.fp16 ? DType::f16 : DType::bf16, config.fp16 ? wide : std::set<std::string>{});
    passes::run(graph, {{"narrow_floats", [](ir::Graph&) { return true; }}}, options);  // sorted, checked and shown as after any pass
  }
}

// Convolutions of groups of channels, neither one group nor a group for each channel: the CPU's kernels for them are of f32.
bool is_grouped(const ir::Node& n) {
  if (n.op() != "Conv") return false;
  const std::int64_t groups = n.attributes.integer("group", 1);
  const ir::Dims& w = n.in(1)->dims();
  return groups > 1 && !(w[1] == ir::Dim(1) && w[0] == ir::Dim(groups));
}

// What is between 8-bit products is finished in f32 with them.
void narrow_on_cpu(ir::Graph& graph, bool quantised, const passes::RunOptions& options) {
  const auto disabled = std::find(options.disabled.begin(), options.disabled.end(), "narrow_floats") != options.disabled.end();
  if (quantised || disabled) return;
  narrow_floats(graph, DType::bf16, {}, is_grouped);
  passes::run(graph, {{"narrow_floats", [](ir::Graph&) { return true; }}}, options);
}

void apply_on_cpu(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device, const passes::RunOptions& options) {
  const auto& nodes = graph.nodes();
  const bool quantised = std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return is_dequantize(n.get()); });
  const bool unsign = !(device.features & backends::kAmxInt8);   // AMX multiplies either
  passes::run(graph, config.int8 ? qdq_passes(unsign) : std::vector<passes::Pass>{pass_lower_qdq()}, options);
  if (!config.bf16 || !(device.features & backends::kAmxBf16)) return;
  narrow_on_cpu(graph, quantised, options);
}

}  // namespace

std::vector<std::string> refused_precisions(const ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device) {
  std::vector<std::string> refused;
  const auto& nodes = graph.nodes();
  const bool has_float8 = std::any_of(nodes.begin(), nodes.end(), [](const auto& n) {
    return is_dequantize(n.get()) && n->in(0)->dtype() == DType::f8e4m3fn;
  });
  if (device.kind == "cuda") {
    if (has_float8 && config.fp8 && device.arch < kFirstWithFloat8)
      refused.push_back(cat("this GPU (sm_", device.arch, ") has no products of e4m3, sm_", kFirstWithFloat8,
                            " is the first with them: those that the model quantises so compute in wider floats"));
    return refused;
  }
  if (has_float8)
    refused.emplace_back("CPUs have no products of e4m3: those that the model quantises so compute in f32, on rounded operands");
  if (config.fp16) refused.emplace_back("fp16 was allowed, but CPUs here have no fp16 arithmetic that pays: f32 is used");
  if (config.bf16 && device.kind == "cpu" && !(device.features & backends::kAmxBf16))
    refused.emplace_back("bf16 was allowed, but this machine has no AMX bf16: f32 is used");
  return refused;
}

void apply(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device, const std::set<std::string>& wide) {
  passes::RunOptions options{.disabled = config.disabled_passes};
  if (config.dump) options.changed = [&config](std::string_view pass, const ir::Graph& changed) { config.dump(pass, ir::print(changed)); };
  if (device.kind == "cuda") apply_on_gpu(graph, config, device, options, wide);
  else apply_on_cpu(graph, config, device, options);
  permit(graph, config, device);   // types are settled: what is left in f32 may round its operands
}

}  // namespace tenfold::quant
