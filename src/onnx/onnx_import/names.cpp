// The model's own names, kept beside the graph: what nodes and values are called there, whatever they become here.
#include <algorithm>

#include "base/check.h"
#include "onnx_import/importer.h"

namespace tenfold::onnx_import {

std::int32_t Importer::tensor_entry(Scope& scope, const std::string& name) {
  const auto [it, fresh] = entries_.try_emplace(cat(scope.prefix, "\n", name), static_cast<std::int32_t>(table_->tensors.size()));
  if (fresh) table_->tensors.push_back(scope.inlined ? scope.prefix + name : name);
  return scope.tensors[name] = it->second;
}

// A node without a name, or with one that another has, is told by its operator and results.
std::int32_t Importer::node_entry(const onnx::NodeProto& proto, Scope& scope, int index) {
  const auto [it, fresh] = entries_.try_emplace(cat(scope.prefix, "\n\n", index), static_cast<std::int32_t>(table_->nodes.size()));
  if (!fresh) return it->second;
  ir::NameTable::Node node;
  std::string results;
  for (const std::string& output : proto.output)
    if (!output.empty()) {
      results += (results.empty() ? "" : ", ") + output;
      node.outputs.push_back(tensor_entry(scope, output));
    }
  for (const std::string& input : proto.input)
    if (const auto tensor = scope.tensors.find(input); tensor != scope.tensors.end()) node.inputs.push_back(tensor->second);
  for (ir::NameList* list : {&node.inputs, &node.outputs}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  node.name = scope.prefix + proto.name;
  if (proto.name.empty()) node.name += cat(proto.op_type, " -> ", results);
  else if (!node_names_.insert(node.name).second) node.name += " -> " + results;
  table_->nodes.push_back(std::move(node));
  return it->second;
}

void Importer::set_sources(std::int32_t entry, const std::vector<std::string>& outputs, const Scope& scope, std::uint32_t last) {
  const auto known = [&](const std::string& name) { return name.empty() || scope.names.at(name)->is_constant(); };
  if (std::all_of(outputs.begin(), outputs.end(), known)) return;
  const auto& nodes = scope.graph->nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend() && (*it)->id > last; ++it)
    if ((*it)->sources.empty()) (*it)->sources.own = {entry};   // those of functions and branches have their own
}

}  // namespace tenfold::onnx_import
