// Why a layer does not have the type that the user gave it.
#include <algorithm>

#include "base/check.h"
#include "passes/precision/layer_rules.h"
#include "passes/precision/layer_types.h"
#include "passes/precision/qdq.h"

namespace tenfold::passes {
namespace {

class Unmet {
 public:
  Unmet(const ir::Graph& graph, const BuildConfig& config, bool quantized, const backends::DeviceInfo& device)
      : graph_(graph), table_(*graph.model_names), config_(config), device_(device), traits_(backends::traits_of(device)),
        quantized_(quantized) {}

  std::vector<UnmetType> all() {
    const LayerRules precisions = precision_rules(table_, config_.layer_types), outputs = output_rules(table_, config_.layer_types);
    const std::unordered_map<std::int32_t, LayerCompute> found = compute_of_layers(graph_);
    for (std::int32_t layer = 0; layer < static_cast<std::int32_t>(table_.nodes.size()); ++layer) {
      const auto rule = precisions.find(layer);
      const auto at = found.find(layer);
      if (rule != precisions.end() && at != found.end()) look_at_type(layer, rule->second, at->second);   // else it was folded
    }
    for (const auto& node : graph_.nodes())
      for (std::size_t o = 0; o < node->outputs.size(); ++o) look_at_output(*node, o, outputs);
    return std::move(unmet_);
  }

 private:
  static bool equal(DType requested, DType got) { return requested == got || (requested == DType::u8 && got == DType::i8); }

  void look_at_type(std::int32_t layer, const LayerRule& rule, const LayerCompute& found) {
    const DType requested = rule.types.front(), got = found.type;
    if (equal(requested, got) || (rule.by_pattern && !is_float(got) && got != DType::i8)) return;
    add(layer, *found.node, "computes in", got, requested, why_not(*found.node, requested, got));
  }
  void look_at_output(const ir::Node& node, std::size_t o, const LayerRules& rules) {
    const std::optional<DType> requested = output_type(table_, rules, node, o);
    const ir::Value& v = *node.outputs[o];
    if (!requested || node.op() == "Cast" || equal(*requested, v.dtype())) return;
    const auto rounds = [&](const ir::Node* user) { return user->op() == "Cast" && user->out()->dtype() == *requested; };
    if (bits(*requested) < bits(v.dtype()) && std::any_of(v.users.begin(), v.users.end(), rounds)) return;
    for (const std::int32_t layer : node.sources.own)
      if (rules.count(layer))
        add(layer, node, "gives", v.dtype(), *requested,
            bits(*requested) == 8 ? "int8 needs QuantizeLinear after it in the model"
                               : "a result has the type that its layer computes in: give the layer that type");
  }
  void add(std::int32_t layer, const ir::Node& node, const char* verb, DType got, DType requested, const std::string& why) {
    const std::string& named = table_.nodes[static_cast<std::size_t>(layer)].name;
    unmet_.push_back({named, cat("layer '", named, "' (", node.op(), ") ", verb, " ", name(got), " on ", device_.name, ", not ",
                                 name(requested), " as asked for: ", why)});
  }

  std::string why_not(const ir::Node& node, DType requested, DType got) const {
    const bool product = node.def->traits.gemm_kind != ir::GemmKind::none || node.def->traits.accumulates;
    switch (requested) {
      case DType::i4:
      case DType::f4e2m1: return "4-bit GEMMs are not supported yet";
      case DType::f8e4m3fn:
        return traits_.float8_gemm ? "e4m3 is for a MatMul or Conv that the model quantizes so, or that a calibration gives a range"
                                       : "this device has no e4m3 GEMMs";
      case DType::i8:
      case DType::u8:
        if (!config_.int8) return "int8 is switched off for the build";
        if (!product) return "only GEMMs and convolutions with constant weights compute in int8";
        return quantized_ ? "its operands are not quantized on both sides, or not as this device multiplies them"
                          : "nothing gives its range: give a calibration (--int8 --data=PATH), or QuantizeLinear and DequantizeLinear";
      case DType::f16:
      case DType::bf16: return why_not_sixteen_bits(requested, got);
      case DType::f32: return is_float(got) ? "it became one step with layers that compute so" : "its values are no floats";
      default: return "the model computes it otherwise";
    }
  }
  std::string why_not_sixteen_bits(DType requested, DType got) const {
    if (!is_float(got)) return "its values are no floats";
    if (traits_.half_values) return "the operator has no form of 16 bits, or its values exceed what fp16 holds (see the check of fp16)";
    if (requested == DType::f16) return traits_.host_arithmetic ? "CPUs here have no fp16 arithmetic that pays" : "this device has no fp16";
    if (!traits_.bf16_gemm) return "this machine has no AMX bf16";
    return "on a CPU only GEMMs, convolutions and attention compute in bf16";
  }

  const ir::Graph& graph_;
  const ir::NameTable& table_;
  const BuildConfig& config_;
  const backends::DeviceInfo& device_;
  backends::DeviceTraits traits_;
  bool quantized_;
  std::vector<UnmetType> unmet_;
};

}  // namespace

std::vector<UnmetType> unmet_layer_types(const ir::Graph& graph, const BuildConfig& config, bool quantized,
                                         const backends::DeviceInfo& device) {
  if (!graph.model_names) return {};
  return Unmet(graph, config, quantized, device).all();
}

}  // namespace tenfold::passes
