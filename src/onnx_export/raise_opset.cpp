#include "onnx_export/raise_opset.h"

#include <map>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "onnx_import/attribute_table.h"
#include "onnx_ops/table.h"

namespace tenfold::onnx_export {
namespace {

bool of_onnx(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

// Names that ONNX gave up, and their last version. Tenfold goes on reading them.
constexpr std::pair<std::string_view, int> kGone[] = {{"Upsample", 9}, {"Scatter", 10}};

class Walk {
 public:
  Walk(int to, const ir::Registry& registry) : to_(to), registry_(registry) {}

  void nodes(const std::vector<onnx::NodeProto>& list, int from, const std::string& where) {
    if (from >= to_) return;
    for (const onnx::NodeProto& node : list) {
      if (of_onnx(node.domain) && !may_stay(node, from)) note(node, where);
      for (const onnx::AttributeProto& a : node.attribute) {
        if (a.g) nodes(a.g->node, from, where);
        for (const onnx::GraphProto& g : a.graphs) nodes(g.node, from, where);
      }
    }
  }
  std::vector<std::string> found;

 private:
  bool may_stay(const onnx::NodeProto& node, int from) const {
    for (const auto& [name, last] : kGone)
      if (node.op_type == name && to_ > last) return false;
    const auto now = onnx_ops::find(registry_, "", node.op_type, from), then = onnx_ops::find(registry_, "", node.op_type, to_);
    if (!now || !then) return !now && !then;   // a function of the model
    if (now->def != then->def || now->form.convert != then->form.convert || now->form.definition != then->form.definition) return false;
    return has_attributes(node);
  }
  bool has_attributes(const onnx::NodeProto& node) const {
    std::map<std::string, int> types;
    for (const onnx::AttributeProto& a : node.attribute) {
      if (a.type < 1 || a.type > 14) return false;
      types[a.name] = static_cast<int>(a.type);
    }
    try {
      onnx_import::check_against_standard(node.op_type, to_, types);
    } catch (const Error&) {
      return false;
    }
    return true;
  }
  void note(const onnx::NodeProto& node, const std::string& where) {
    const std::string name = node.name.empty() && !node.output.empty() ? "-> " + node.output[0] : node.name;
    found.push_back(cat("node '", where, name, "' (", node.op_type, ")"));
  }

  int to_;
  const ir::Registry& registry_;
};

int version_of(const std::vector<onnx::OperatorSetIdProto>& imports, int otherwise) {
  for (const auto& import : imports)
    if (of_onnx(import.domain)) return static_cast<int>(import.version);
  return otherwise;
}

}  // namespace

int onnx_opset(const onnx::ModelProto& model) { return version_of(model.opset_import, 1); }

std::vector<std::string> nodes_in_the_way(const onnx::ModelProto& model, int opset, const ir::Registry& registry) {
  Walk walk(opset, registry);
  if (model.graph) walk.nodes(model.graph->node, onnx_opset(model), "");
  for (const onnx::FunctionProto& f : model.functions) walk.nodes(f.node, version_of(f.opset_import, opset), f.name + "/");
  return walk.found;
}

}  // namespace tenfold::onnx_export
