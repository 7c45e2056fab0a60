// Who depends on whom: topological order of a node list, and the names that a body takes from outside.
#include <algorithm>
#include <queue>
#include <string_view>

#include "base/check.h"
#include "onnx_import/importer.h"

namespace tenfold::onnx_import {
namespace {

using Nodes = std::vector<onnx::NodeProto>;

// Calls f(name) for every name that a node reads, those that its bodies take from outside included.
template <class F>
void for_each_use(const onnx::NodeProto& node, FreeNames& free, F&& f) {
  for (const std::string& name : node.input)
    if (!name.empty()) f(name);
  for (const auto& attribute : node.attribute) {
    if (attribute.g)
      for (const std::string* name : free.of(*attribute.g)) f(*name);
    for (const auto& graph : attribute.graphs)
      for (const std::string* name : free.of(graph)) f(*name);
  }
}

std::unordered_map<std::string_view, int> producers(const Nodes& nodes) {
  std::unordered_map<std::string_view, int> result;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::string& name : nodes[i].output) {
      if (name.empty()) continue;
      const auto [entry, fresh] = result.try_emplace(name, static_cast<int>(i));
      require(fresh, ErrorKind::invalid_model, "'", name, "' is defined twice: by ", shown(nodes[static_cast<std::size_t>(entry->second)]),
              " and by ", shown(nodes[i]));
    }
  return result;
}

// Every node left has an unplaced predecessor, so walking backwards must meet a node twice: it is on a cycle.
int on_cycle(const std::vector<std::vector<int>>& reads, const std::vector<bool>& placed, int start) {
  std::vector<bool> seen(reads.size());
  for (int at = start;;) {
    if (seen[static_cast<std::size_t>(at)]) return at;
    seen[static_cast<std::size_t>(at)] = true;
    const auto& before = reads[static_cast<std::size_t>(at)];
    at = *std::find_if(before.begin(), before.end(), [&](int i) { return !placed[static_cast<std::size_t>(i)]; });
  }
}

}  // namespace

std::string shown(const onnx::NodeProto& node) {
  const bool unnamed = node.name.empty() && !node.output.empty();
  return cat("node '", unnamed ? "-> " + node.output[0] : node.name, "' (", node.op_type, ")");
}

std::vector<int> topological_order(const Nodes& nodes, FreeNames& free) {
  const auto made_by = producers(nodes);
  const std::size_t count = nodes.size();
  std::vector<std::vector<int>> reads(count), read_by(count);
  std::vector<int> waiting(count, 0);
  for (int i = 0; i < static_cast<int>(count); ++i) {
    for_each_use(nodes[static_cast<std::size_t>(i)], free, [&](const std::string& name) {
      const auto producer = made_by.find(name);
      if (producer == made_by.end()) return;
      reads[static_cast<std::size_t>(i)].push_back(producer->second);
      read_by[static_cast<std::size_t>(producer->second)].push_back(i);
      ++waiting[static_cast<std::size_t>(i)];
    });
  }
  // The smallest ready index goes first, so a list in order stays as it is.
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < static_cast<int>(count); ++i)
    if (waiting[static_cast<std::size_t>(i)] == 0) ready.push(i);
  std::vector<int> order;
  std::vector<bool> placed(count);
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    placed[static_cast<std::size_t>(i)] = true;
    for (int next : read_by[static_cast<std::size_t>(i)])
      if (--waiting[static_cast<std::size_t>(next)] == 0) ready.push(next);
  }
  if (order.size() < count) {
    const auto left = static_cast<int>(std::find(placed.begin(), placed.end(), false) - placed.begin());
    fail(ErrorKind::invalid_model, shown(nodes[static_cast<std::size_t>(on_cycle(reads, placed, left))]) + " depends on its own result");
  }
  return order;
}

const std::vector<const std::string*>& FreeNames::of(const onnx::GraphProto& graph) {
  if (const auto found = orders_.find(&graph); found != orders_.end()) return found->second;
  std::unordered_set<std::string_view> known;
  for (const auto& input : graph.input) known.insert(input.name);
  for (const auto& tensor : graph.initializer) known.insert(tensor.name);
  for (const auto& tensor : graph.sparse_initializer) known.insert(tensor.name());
  for (const auto& node : graph.node) known.insert(node.output.begin(), node.output.end());
  std::vector<const std::string*> result;
  std::unordered_set<std::string_view> listed;
  const auto use = [&](const std::string& name) {
    if (!known.count(name) && listed.insert(name).second) result.push_back(&name);
  };
  for (const auto& node : graph.node) for_each_use(node, *this, use);
  for (const auto& output : graph.output) use(output.name);
  return orders_[&graph] = std::move(result);
}

}  // namespace tenfold::onnx_import
