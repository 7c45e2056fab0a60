// One tactic of a plug-in and one node: what the tactic is asked, and the kernel that it opens.
#pragma once

#include "runtime/plugins/operator.h"
#include "runtime/plugins/views.h"

namespace tenfold::runtime {

inline constexpr std::size_t kMaxPluginOperands = 16;  // of a kernel: their descriptions stand on the stack
std::vector<PluginOperandType> plugin_operand_types(const std::vector<backends::OperandDesc>& operands);

// A problem as one of the operator's tactics is asked about it.
class PluginQuestion {
 public:
  PluginQuestion(const backends::Problem& p, int number, const backends::Config& config = {})
      : plugin(plugin_of(*p.op)),
        tactic(plugin.tactics.at(static_cast<std::size_t>(number))),
        attributes_(*p.attributes, plugin.attribute_names),
        in_(plugin_operand_types(p.in), p.box ? *p.box : nothing_known()),
        out_(plugin_operand_types(p.out), p.box ? *p.box : nothing_known()),
        config_(config) {
    problem.size = sizeof problem, problem.attributes = attributes_.data(),
    problem.attribute_count = attributes_.count();
    problem.in = in_.data(), problem.inputs = in_.count(), problem.out = out_.data(), problem.outputs = out_.count();
    problem.config = config_.data(), problem.config_count = static_cast<std::int32_t>(config_.size());
    problem.device = p.device->kind.c_str(), problem.device_name = p.device->name.c_str();
    problem.device_ordinal = p.device->ordinal, problem.device_arch = p.device->arch;
    problem.why = why.text, problem.why_bytes = sizeof why.text;
  }
  void* self() const { return plugin.table.self; }
  // Of a tactic's answers that make no sense.
  template <class... Args>
  void need(bool condition, const Args&... args) const {
    require(condition, ErrorKind::invalid_argument, plugin_text(plugin), ": tactic '", tactic.name, "' ", args...);
  }
  const PluginTable& plugin;
  const PluginTacticTable& tactic;
  tenfold_plugin_problem problem{};
  PluginWhy why;

 private:
  static const ir::SymbolBounds& nothing_known() {
    static const ir::SymbolBounds none;
    return none;
  }
  AttributeViews attributes_;
  TypeViews in_, out_;
  backends::Config config_;
};

// `number`: of the tactic in its operator's table. Throws what the plug-in's open() says.
std::shared_ptr<const void> open_plugin_kernel(const backends::Problem& p, const backends::Config& config, int number);
Status::Code run_plugin_kernel(const void* opened, const backends::RunArgs& args) noexcept;

}  // namespace tenfold::runtime
