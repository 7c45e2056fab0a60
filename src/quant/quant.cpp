// The precision stage in order.
#include "quant/quant.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "ir/text.h"
#include "quant/narrow_floats.h"
#include "quant/qdq.h"

namespace tenfold::quant {

namespace {

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

// Products of f32 may round their operands, in bodies too.
void permit(ir::Graph& graph, const std::string& precision, bool (*may_round)(const ir::Node&)) {
  for (const auto& n : graph.nodes()) {
    for (const auto& body : n->graphs) permit(*body, precision, may_round);
    if (may_round(*n) && n->in(0)->dtype() == DType::f32) n->attributes.set("precision", precision);
  }
}
bool is_product(const ir::Node& n) { return n.op() == "MatMul" || n.op() == "Conv" || n.op() == "ConvTranspose"; }

// fp16 goes before bf16 where both are allowed: three more bits of fraction, and what overflows it stays wide.
void apply_on_gpu(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device, const passes::RunOptions& options,
                  const std::set<std::string>& wide) {
  constexpr int kFirstWithFloat8 = 89;
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
  if (config.tf32) permit(graph, "tf32", [](const ir::Node& n) { return is_product(n) || n.op() == "FusedAttention"; });
}

// Convolutions of groups of channels, neither one group nor a group for each channel: the CPU's kernels for them are of f32.
bool is_grouped(const ir::Node& n) {
  if (n.op() != "Conv") return false;
  const std::int64_t groups = n.attributes.integer("group", 1);
  const ir::Dims& w = n.in(1)->dims();
  return groups > 1 && !(w[1] == ir::Dim(1) && w[0] == ir::Dim(groups));
}

// What is between 8-bit products is finished in f32 with them; products of f32 left there may round their operands.
void narrow_on_cpu(ir::Graph& graph, bool quantised, const passes::RunOptions& options) {
  const auto disabled = std::find(options.disabled.begin(), options.disabled.end(), "narrow_floats") != options.disabled.end();
  if (!quantised && !disabled) {
    narrow_floats(graph, DType::bf16, {}, is_grouped);
    passes::run(graph, {{"narrow_floats", [](ir::Graph&) { return true; }}}, options);
  }
  permit(graph, "bf16", [](const ir::Node& n) { return is_product(n) || n.op() == "FusedAttention"; });
}

}  // namespace

void apply(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device, const std::set<std::string>& wide) {
  const Log log(config.log);
  passes::RunOptions options{.disabled = config.disabled_passes};
  if (config.dump) options.changed = [&config](std::string_view pass, const ir::Graph& changed) { config.dump(pass, ir::print(changed)); };
  if (device.kind == "cuda") return apply_on_gpu(graph, config, device, options, wide);
  const auto& nodes = graph.nodes();
  const bool quantised = std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return is_dequantize(n.get()); });
  if (std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return is_dequantize(n.get()) && n->in(0)->dtype() == DType::f8e4m3fn; }))
    log(Severity::info, "CPUs have no products of e4m3: those that the model quantises so compute in f32, on rounded operands");
  const bool unsign = !(device.features & backends::kAmxInt8);   // AMX multiplies either
  passes::run(graph, config.int8 ? qdq_passes(unsign) : std::vector<passes::Pass>{pass_lower_qdq()}, options);
  if (config.fp16) log(Severity::info, "fp16 was allowed, but CPUs here have no fp16 arithmetic that pays: f32 is used");
  if (!config.bf16) return;
  if (!(device.features & backends::kAmxBf16)) {
    log(Severity::info, "bf16 was allowed, but this machine has no AMX bf16: f32 is used");
    return;
  }
  narrow_on_cpu(graph, quantised, options);
}

}  // namespace tenfold::quant
