// Lists of names, and following them from the start.
#include "ir/names.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ir/lineage.h"

namespace tenfold::ir {

void join(NameList& list, const NameList& more) {
  if (more.empty()) return;
  if (list.empty()) {
    list = more;
    return;
  }
  NameList both;
  std::set_union(list.begin(), list.end(), more.begin(), more.end(), std::back_inserter(both));
  list = std::move(both);
}

NameList Sources::all() const {
  NameList both = own;
  join(both, behind);
  return both;
}

namespace {

struct Start {
  NameTable& table;
  bool all;   // not only what was added since the table was made
  std::unordered_set<std::int32_t> alive = {};

  void tensors(Graph& graph) {
    for (const auto& v : graph.values()) {
      if (!v->names.empty() || (!all && v->id <= graph.journal().values)) continue;
      v->names = {static_cast<std::int32_t>(table.tensors.size())};
      table.tensors.push_back(v->name);
    }
    for (const auto& n : graph.nodes())
      for (const auto& body : n->graphs) tensors(*body);
  }
  void nodes(Graph& graph) {
    for (const auto& n : graph.nodes()) {
      if (n->sources.empty() && (all || n->id > graph.journal().nodes)) {
        NameTable::Node entry{n->name, {}, {}};
        for (const Value* v : n->inputs)
          if (v) join(entry.inputs, v->names);
        for (const Value* v : n->outputs) join(entry.outputs, v->names);
        n->sources.own = {static_cast<std::int32_t>(table.nodes.size())};
        table.nodes.push_back(std::move(entry));
      }
      for (const auto* list : {&n->sources.own, &n->sources.behind}) alive.insert(list->begin(), list->end());
      for (const auto& body : n->graphs) nodes(*body);
    }
  }
  void removed(const Graph& graph) {
    for (const Removed& r : graph.removed) alive.insert(r.node);
    for (const auto& n : graph.nodes())
      for (const auto& body : n->graphs) removed(*body);
  }
};

void take_up(Graph& graph, const std::shared_ptr<const NameTable>& table) {
  graph.model_names = table;
  graph.clear_journal();
  for (const auto& n : graph.nodes())
    for (const auto& body : n->graphs) take_up(*body, table);
}

}  // namespace

void start_names(Graph& graph, std::string_view by) {
  const auto table = graph.model_names ? std::make_shared<NameTable>(*graph.model_names) : std::make_shared<NameTable>();
  Start start{*table, !graph.model_names};
  start.tensors(graph);
  start.nodes(graph);
  start.removed(graph);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(table->nodes.size()); ++i)
    if (!start.alive.count(i)) graph.removed.push_back({i, std::string(by)});
  take_up(graph, table);
}

SourcesBehind::SourcesBehind(const NameTable& table, NameList sources) : table_(table), sources_(std::move(sources)) {
  for (const std::int32_t node : sources_)
    for (const std::int32_t tensor : table_.nodes[static_cast<std::size_t>(node)].outputs) makers_[tensor].push_back(node);
}

NameList SourcesBehind::of(const Value& result) const {
  std::vector<std::int32_t> tensors(result.names.begin(), result.names.end());
  std::set<std::int32_t> found;
  while (!tensors.empty()) {
    const auto makers = makers_.find(tensors.back());
    tensors.pop_back();
    if (makers == makers_.end()) continue;
    for (const std::int32_t node : makers->second)
      if (found.insert(node).second) {
        const NameList& inputs = table_.nodes[static_cast<std::size_t>(node)].inputs;
        tensors.insert(tensors.end(), inputs.begin(), inputs.end());
      }
  }
  return found.empty() ? sources_ : NameList(found.begin(), found.end());
}

}  // namespace tenfold::ir
