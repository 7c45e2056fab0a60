// From the inspection, which lists steps, nodes and tensors of each program.
#include "measure/model_names.h"

#include <map>
#include <set>

#include "flags/flags.h"
#include "tenfold/inspect.h"

namespace tenfold::cli {

void name_layers(const Engine& engine, std::vector<LayerTimes>& layers) {
  std::map<std::string, std::vector<std::string>> nodes;   // of steps; profiles' programs name them alike
  std::set<std::string> reference;
  for (const PlanProgram& program : engine.inspection().programs)
    for (const PlanStep& step : program.steps) {
      if (step.kind == "reference") reference.insert(step.name);
      std::vector<std::string>& list = nodes[step.name];
      if (list.empty())
        for (const std::int32_t n : step.nodes) list.push_back(program.nodes[static_cast<std::size_t>(n)].name);
    }
  for (LayerTimes& layer : layers) {
    layer.reference = reference.contains(layer.name);
    if (const auto it = nodes.find(layer.name); it != nodes.end()) layer.nodes = it->second;
  }
}

std::string nodes_text(const std::vector<std::string>& nodes) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), kShown); ++i) text += (i ? ", " : "") + nodes[i];
  if (nodes.size() > kShown) text += " and " + std::to_string(nodes.size() - kShown) + " more";
  return text.empty() ? "" : "  (" + text + ")";
}

std::string matches_text(const PlanInspection& plan, const std::string& name) {
  std::string text;
  bool kept = false;
  for (std::size_t p = 0; p < plan.programs.size(); ++p) {
    const PlanProgram& program = plan.programs[p];
    const std::string place = plan.programs.size() > 1 ? "program " + std::to_string(p) + ": " : "";
    kept = kept || !program.tensors.empty();
    for (const PlanNode& node : program.nodes) {
      if (node.name != name) continue;
      for (const std::int32_t s : node.steps)
        text += place + "node '" + name + "' is computed by step " + std::to_string(s) + " '" +
                program.steps[static_cast<std::size_t>(s)].name + "'\n";
      if (node.steps.empty()) text += place + "node '" + name + "' has no step of its own: " + node.removed_by + "\n";
    }
    for (const PlanTensor& tensor : program.tensors)
      if (tensor.name == name) text += place + "tensor '" + name + "': " + tensor.where + "\n";
  }
  if (!kept) throw UsageError("the plan keeps no names of its model: it was built by an older version");
  if (text.empty()) throw UsageError("the model has no node and no tensor named '" + name + "'");
  return text;
}

}  // namespace tenfold::cli
