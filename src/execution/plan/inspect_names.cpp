// The model's names in an inspection: which steps compute a node, and where a tensor is, or why it is nowhere.
#include <unordered_map>

#include "base/check.h"
#include "plan/inspect.h"

namespace tenfold::plan {
namespace {

struct Finder {
  PlanProgram& data;
  const Names& names;
  std::unordered_map<std::int32_t, std::int32_t> maker = {};                    // tensor -> node
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> readers = {};     // tensor -> nodes

  std::string step_text(std::int32_t step) const { return cat("step ", step, " '", data.steps[static_cast<std::size_t>(step)].name, "'"); }
  const PlanNode& node(std::int32_t number) const { return data.nodes[static_cast<std::size_t>(number)]; }

  // As an operand of a step: results count before what is read.
  void place_operands() {
    for (const bool results : {true, false})
      for (std::size_t s = 0; s < data.steps.size(); ++s) {
        const std::vector<PlanOperand>& list = results ? data.steps[s].outputs : data.steps[s].inputs;
        for (std::size_t i = 0; i < list.size(); ++i)
          for (const std::int32_t t : list[i].tensors) {
            PlanTensor& tensor = data.tensors[static_cast<std::size_t>(t)];
            if (tensor.step >= 0) continue;
            tensor.step = static_cast<std::int32_t>(s);
            tensor.where = cat(results ? "result " : "operand ", i, " of ", step_text(tensor.step), ", ", list[i].place);
          }
      }
  }
  // Of no operand.
  void place(PlanTensor& tensor, std::int32_t number) const {
    if (const auto made = maker.find(number); made != maker.end()) {
      const PlanNode& n = node(made->second);
      if (n.steps.empty()) tensor.where = cat("gone: '", n.name, "' was removed by ", n.removed_by);
      else tensor.step = n.steps.back(), tensor.where = "inside " + step_text(tensor.step);
      return;
    }
    const auto read = readers.find(number);
    tensor.where = "no node reads it";
    if (read == readers.end()) return;
    for (const std::int32_t reader : read->second) {
      const PlanNode& n = node(reader);
      if (n.steps.empty()) tensor.where = cat("gone with '", n.name, "', which was removed by ", n.removed_by);
      if (n.steps.empty()) continue;
      tensor.step = n.steps.front(), tensor.where = "in the constants of " + step_text(tensor.step);
      return;
    }
  }
};

}  // namespace

std::string listed(const ir::NameTable& table, const ir::NameList& nodes) {
  std::string text;
  for (const std::int32_t n : nodes) text += (text.empty() ? "" : ", ") + table.nodes[static_cast<std::size_t>(n)].name;
  return text;
}

void add_names(PlanProgram& data, const Names& names, const ProgramNames& of) {
  Finder finder{data, names};
  for (const ir::NameTable::Node& n : names.table.nodes) {
    const auto number = static_cast<std::int32_t>(data.nodes.size());
    for (const std::int32_t t : n.outputs) finder.maker.emplace(t, number);
    for (const std::int32_t t : n.inputs) finder.readers[t].push_back(number);
    data.nodes.push_back({n.name, {}, ""});
  }
  for (const std::string& tensor : names.table.tensors) data.tensors.push_back({tensor, -1, ""});
  for (std::size_t s = 0; s < of.steps.size(); ++s) {
    PlanStep& step = data.steps[s];
    step.nodes = of.steps[s].nodes;
    for (const std::int32_t n : step.nodes) data.nodes[static_cast<std::size_t>(n)].steps.push_back(static_cast<std::int32_t>(s));
    for (std::size_t o = 0; o < of.steps[s].operands.size(); ++o)
      (o < step.inputs.size() ? step.inputs[o] : step.outputs[o - step.inputs.size()]).tensors = of.steps[s].operands[o];
  }
  for (const ir::Removed& r : of.removed)
    if (PlanNode& n = data.nodes[static_cast<std::size_t>(r.node)]; n.steps.empty()) n.removed_by = r.by;
  finder.place_operands();
  for (std::size_t t = 0; t < data.tensors.size(); ++t)
    if (data.tensors[t].step < 0) finder.place(data.tensors[t], static_cast<std::int32_t>(t));
}

}  // namespace tenfold::plan
