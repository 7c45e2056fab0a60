#include "onnx_export/raise_opset.h"

#include <algorithm>
#include <map>
#include <set>
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

// The version at which the axes of an operator became an operand; 0: it has none.
int axes_are_operand_since(const std::string& op) {
  if (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum") return 13;
  static const std::set<std::string_view> others{"ReduceL1",  "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                                                 "ReduceMean", "ReduceMin", "ReduceProd",   "ReduceSumSquare"};
  return others.count(op) ? 18 : 0;
}

bool axes_move(const onnx::NodeProto& node, int from, int to) {
  const int since = of_onnx(node.domain) ? axes_are_operand_since(node.op_type) : 0;
  if (from >= since || to < since || node.input.size() != 1) return false;
  return std::all_of(node.attribute.begin(), node.attribute.end(), [](const onnx::AttributeProto& a) {
    return a.ref_attr_name.empty() && ((a.name == "axes" && a.type == 7) || (a.name == "keepdims" && a.type == 2));
  });
}

class Walk {
 public:
  Walk(int to, const ir::Registry& registry) : to_(to), registry_(registry) {}

  // `own`: of the model's own graph, in no body.
  void nodes(const std::vector<onnx::NodeProto>& list, int from, const std::string& where, bool own = false) {
    if (from >= to_) return;
    for (const onnx::NodeProto& node : list) {
      if (of_onnx(node.domain) && !may_stay(node, from) && !(own && axes_move(node, from, to_))) note(node, where);
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
  if (model.graph) walk.nodes(model.graph->node, onnx_opset(model), "", true);
  for (const onnx::FunctionProto& f : model.functions) walk.nodes(f.node, version_of(f.opset_import, opset), f.name + "/");
  return walk.found;
}

void write_axes(const onnx::ModelProto& model, int opset, const std::function<std::string(const std::string&)>& fresh, Edits& edits) {
  const int from = onnx_opset(model);
  for (std::size_t place = 0; place < model.graph->node.size(); ++place) {
    const onnx::NodeProto& node = model.graph->node[place];
    if (!axes_move(node, from, opset) || edits.left_out_nodes.count(place)) continue;
    NewNode raised{node.op_type, node.name, node.input, node.output, {}, node.domain};
    if (const auto changed = edits.inputs.find(place); changed != edits.inputs.end())
      for (const auto& [operand, name] : changed->second) raised.inputs.at(operand) = name;
    for (const onnx::AttributeProto& a : node.attribute) {
      if (a.name == "keepdims") {
        raised.attributes["keepdims"] = a.i.value_or(0);
        continue;
      }
      Tensor axes(DType::i64, {static_cast<std::int64_t>(a.ints.size())});
      std::copy(a.ints.begin(), a.ints.end(), axes.mutable_data<std::int64_t>());
      raised.inputs.push_back(fresh(node.output.empty() ? "axes" : node.output[0] + "_axes"));
      edits.initializers.emplace_back(raised.inputs.back(), std::move(axes));
    }
    edits.before[place].push_back(std::move(raised)), edits.left_out_nodes.insert(place), edits.inputs.erase(place);
  }
}

}  // namespace tenfold::onnx_export
