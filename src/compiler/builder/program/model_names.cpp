// Steps have the names of their nodes, operands those of their values or their places in the node.
#include "builder/program/model_names.h"

#include <unordered_map>
#include <unordered_set>

#include "base/check.h"

namespace tenfold::builder {
namespace {

constexpr const char* kView = "view";

void add_inner(const ir::Node& node, ir::NameList& nodes) {
  for (const auto& body : node.graphs)
    for (const auto& n : body->nodes()) {
      ir::join(nodes, n->sources.all());
      add_inner(*n, nodes);
    }
}

class Namer {
 public:
  plan::ProgramNames names = {};
  std::unordered_set<std::int32_t> reported = {};   // what a step computes
  std::vector<std::int32_t> all = {};           // what a node stands for, with a step or without

  void walk(const ir::Graph& graph, const plan::Program& program) {
    std::unordered_map<std::string_view, const ir::Node*> nodes;
    std::unordered_map<std::string_view, const ir::Value*> values;
    for (const auto& n : graph.nodes()) nodes[n->name] = n.get();
    for (const auto& v : graph.values()) values[v->name] = v.get();
    for (const plan::Step& step : program.steps) {
      const auto found = nodes.find(step.name);
      const ir::Node* node = found == nodes.end() ? nullptr : found->second;
      add(step, node, values);
      for (std::size_t i = 0; node && i < step.programs.size(); ++i) walk(*node->graphs[i], step.programs[i]);
    }
    names.removed.insert(names.removed.end(), graph.removed.begin(), graph.removed.end());
    for (const auto& n : graph.nodes())
      for (const std::int32_t source : n->sources.all()) all.push_back(source);
  }

 private:
  void add(const plan::Step& step, const ir::Node* node, const std::unordered_map<std::string_view, const ir::Value*>& values) {
    plan::StepNames of;
    if (node) of.nodes = node->sources.all();
    if (node && step.programs.empty()) add_inner(*node, of.nodes);   // it runs on the host with graphs of its own
    reported.insert(of.nodes.begin(), of.nodes.end());
    const auto add_operand = [&](const plan::Operand& o, const std::vector<ir::Value*>* list, std::size_t i) {
      const auto named = values.find(o.name);
      const ir::Value* v = list && i < list->size() ? (*list)[i] : nullptr;
      if (!v && !o.name.empty() && named != values.end()) v = named->second;
      of.operands.push_back(v ? v->names : ir::NameList{});
    };
    for (std::size_t i = 0; i < step.in.size(); ++i) add_operand(step.in[i], node ? &node->inputs : nullptr, i);
    for (std::size_t o = 0; o < step.out.size(); ++o) add_operand(step.out[o], node ? &node->outputs : nullptr, o);
    names.steps.push_back(std::move(of));
  }
};

bool within(const ir::NameList& list, std::size_t count) { return list.empty() || static_cast<std::size_t>(list.back()) < count; }

void adopt(ir::Graph& graph, const std::shared_ptr<const ir::NameTable>& table) {
  graph.model_names = table;
  graph.clear_journal();
  for (const auto& v : graph.values())
    require(within(v->names, table->tensors.size()), ErrorKind::plan_refused, "the portable graph gives '", v->name,
            "' a name that the plan does not have");
  for (const auto& n : graph.nodes()) {
    require(within(n->sources.own, table->nodes.size()) && within(n->sources.behind, table->nodes.size()), ErrorKind::plan_refused,
            "the portable graph's node '", n->name, "' stands for one that the plan does not name");
    for (const auto& body : n->graphs) adopt(*body, table);
  }
}

}  // namespace

void adopt_names(ir::Graph& graph, const plan::Names& old, std::size_t program) {
  const auto table = std::make_shared<const ir::NameTable>(old.table);
  adopt(graph, table);
  for (ir::Value* v : graph.inputs)   // the text form has no names for them
    for (std::size_t t = 0; t < table->tensors.size() && v->names.empty(); ++t)
      if (table->tensors[t] == v->name) v->names = {static_cast<std::int32_t>(t)};
  for (const ir::Removed& r : old.programs.at(program).removed)
    if (r.by != kView) graph.removed.push_back(r);
}

plan::ProgramNames names_of(const ir::Graph& graph, const plan::Program& program) {
  Namer namer;
  namer.walk(graph, program);
  for (const ir::Removed& r : namer.names.removed) namer.reported.insert(r.node);
  for (const std::int32_t source : namer.all)
    if (namer.reported.insert(source).second) namer.names.removed.push_back({source, kView});
  return std::move(namer.names);
}

}  // namespace tenfold::builder
