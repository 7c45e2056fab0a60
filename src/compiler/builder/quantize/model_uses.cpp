#include "builder/quantize/model_uses.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace tenfold::builder {
namespace {

template <class Use>
void for_each_body(const onnx::NodeProto& node, Use&& use) {
  for (const onnx::AttributeProto& a : node.attribute) {
    if (a.g) use(*a.g);
    for (const onnx::GraphProto& g : a.graphs) use(g);
  }
}

class Uses {
 public:
  Uses(const onnx::GraphProto& graph, const onnx_export::Edits& edits) {
    for (const auto& output : graph.output) ++count_[output.name];
    for (std::size_t i = 0; i < graph.node.size(); ++i) {
      if (edits.left_out_nodes.count(i)) continue;
      const onnx::NodeProto& node = graph.node[i];
      const auto changed = edits.inputs.find(i);
      for (std::size_t k = 0; k < node.input.size(); ++k)
        ++count_[changed != edits.inputs.end() && changed->second.count(k) ? changed->second.at(k) : node.input[k]];
      for_each_body(node, [&](const onnx::GraphProto& body) { within(body); });
    }
    for (const auto& [place, nodes] : edits.before)
      for (const onnx_export::NewNode& node : nodes)
        for (const std::string& name : node.inputs) ++count_[name];
  }
  bool any(const std::string& name) const {
    const auto at = count_.find(name);
    return at != count_.end() && at->second > 0;
  }
  void one_less(const std::string& name) { --count_[name]; }

 private:
  // A body's own names are counted, too: at worst a weight stays.
  void within(const onnx::GraphProto& body) {
    for (const auto& output : body.output) ++count_[output.name];
    for (const onnx::NodeProto& node : body.node) {
      for (const std::string& name : node.input) ++count_[name];
      for_each_body(node, [&](const onnx::GraphProto& inner) { within(inner); });
    }
  }
  std::unordered_map<std::string, int> count_;
};

}  // namespace

FreshNames::FreshNames(const onnx::ModelProto& model) { take(*model.graph); }

void FreshNames::take(const onnx::GraphProto& graph) {
  for (const auto& v : graph.input) values_.insert(v.name);
  for (const auto& v : graph.output) values_.insert(v.name);
  for (const auto& t : graph.initializer) values_.insert(t.name);
  for (const auto& t : graph.sparse_initializer) values_.insert(t.name());
  for (const onnx::NodeProto& node : graph.node) {
    nodes_.insert(node.name);
    values_.insert(node.input.begin(), node.input.end()), values_.insert(node.output.begin(), node.output.end());
    for_each_body(node, [&](const onnx::GraphProto& body) { take(body); });
  }
}

std::string FreshNames::fresh(Taken& taken, const std::string& stem) {
  std::string name = stem;
  for (int i = 1; !taken.insert(name).second; ++i) name = stem + "_" + std::to_string(i);
  return name;
}

void leave_out_unused(const onnx::GraphProto& graph, const std::set<std::string>& names, onnx_export::Edits& edits) {
  Uses uses(graph, edits);
  std::unordered_set<std::string_view> initializers;
  std::unordered_map<std::string_view, std::size_t> made_by;
  for (const auto& t : graph.initializer) initializers.insert(t.name);
  for (const auto& t : graph.sparse_initializer) initializers.insert(t.name());
  for (std::size_t i = 0; i < graph.node.size(); ++i)
    for (const std::string& name : graph.node[i].output) made_by[name] = i;
  std::vector<std::string> left(names.begin(), names.end());
  while (!left.empty()) {
    const std::string name = std::move(left.back());
    left.pop_back();
    if (uses.any(name)) continue;
    if (initializers.count(name)) {
      edits.left_out.insert(name);
      continue;
    }
    const auto maker = made_by.find(name);
    if (maker == made_by.end()) continue;
    const onnx::NodeProto& node = graph.node[maker->second];
    if (std::any_of(node.output.begin(), node.output.end(), [&](const std::string& o) { return uses.any(o); })) continue;
    if (!edits.left_out_nodes.insert(maker->second).second) continue;
    edits.left_out.insert(node.output.begin(), node.output.end());   // their value_infos
    for (const std::string& input : node.input) uses.one_less(input), left.push_back(input);
  }
}

}  // namespace tenfold::builder
