#include "onnx_export/raise_opset.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "onnx_import/standard_table.h"
#include "onnx_ops/table.h"

namespace tenfold::onnx_export {
namespace {

bool of_onnx(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

// Names that ONNX gave up, and their last version. Tenfold goes on reading them.
constexpr std::pair<std::string_view, int> kGone[] = {{"Upsample", 9}, {"Scatter", 10}};

const onnx::AttributeProto* attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const onnx::AttributeProto& a : node.attribute)
    if (a.name == name) return &a;
  return nullptr;
}

bool has_operand(const onnx::NodeProto& node, std::size_t i) { return node.input.size() > i && !node.input[i].empty(); }

// An operator whose form changes with opset `changed`, and the nodes of opset `first` and later that mean there what they meant before.
struct Change {
  std::string_view op;
  int first, changed;
  bool (*stays)(const onnx::NodeProto&);
};

const std::vector<Change>& changes() {
  static const auto no_axes = [](const onnx::NodeProto& n) { return n.input.size() == 1 && !attribute(n, "axes"); };
  static const std::vector<Change> all = [] {
    std::vector<Change> list{
        {"Equal", 7, 19, [](const onnx::NodeProto&) { return true; }},  // strings came
        {"Split", 13, 18, [](const onnx::NodeProto& n) { return has_operand(n, 1); }},
        {"GridSample", 16, 20,
         [](const onnx::NodeProto& n) {  // bilinear and bicubic are called linear and cubic
           const onnx::AttributeProto* mode = attribute(n, "mode");
           return !mode || (mode->s && *mode->s == "nearest");
         }},
        {"BatchNormalization", 9, 14, [](const onnx::NodeProto& n) { return n.output.size() == 1; }},  // more: it trains
        {"Dropout", 7, 12, [](const onnx::NodeProto& n) { return !attribute(n, "ratio"); }},  // nothing is dropped where nobody trains
        {"ReduceSum", 1, 13, no_axes}};
    for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
                           "ReduceSumSquare"})
      list.push_back({op, 1, 18, no_axes});
    return list;
  }();
  return all;
}

bool has_only(const onnx::NodeProto& node, const std::map<std::string_view, int>& types) {
  return std::all_of(node.attribute.begin(), node.attribute.end(), [&](const onnx::AttributeProto& a) {
    const auto type = types.find(a.name);
    return a.ref_attr_name.empty() && type != types.end() && a.type == type->second;
  });
}

// The version at which the axes of an operator became an operand; 0: it has none.
int axes_are_operand_since(const std::string& op) {
  if (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum") return 13;
  for (const Change& c : changes())
    if (c.op == op && op.starts_with("Reduce")) return c.changed;
  return 0;
}

constexpr int kInt = 2, kText = 3, kInts = 7;  // AttributeProto::type

enum class Raise { none, axes, outputs, modes, ratio };

// How a node is written at the newer opset, where it cannot stay.
Raise way_to_raise(const onnx::NodeProto& node, int from, int to) {
  if (!of_onnx(node.domain)) return Raise::none;
  const auto crosses = [&](int first, int changed) { return from >= first && from < changed && to >= changed; };
  if (crosses(0, axes_are_operand_since(node.op_type)) && node.input.size() == 1 && has_only(node, {{"axes", kInts}, {"keepdims", kInt}}))
    return Raise::axes;
  if (node.op_type == "Split" && crosses(13, 18) && !has_operand(node, 1) && has_only(node, {{"axis", kInt}})) return Raise::outputs;
  if (node.op_type == "GridSample" && crosses(16, 20) &&
      has_only(node, {{"mode", kText}, {"padding_mode", kText}, {"align_corners", kInt}}))
    return Raise::modes;
  if (node.op_type == "Dropout" && crosses(7, 12) && node.output.size() == 1 && attribute(node, "ratio")) return Raise::ratio;
  return Raise::none;
}

class Walk {
 public:
  Walk(int to, const ir::Registry& registry, const NodeSet& written) : to_(to), registry_(registry), written_(written) {}

  // `rewritten`: whether nodes of the list that have another form are written in it.
  void nodes(const std::vector<onnx::NodeProto>& list, int from, const std::string& where, bool rewritten) {
    if (from >= to_) return;
    for (const onnx::NodeProto& node : list) {
      const bool is_raised = rewritten && (written_.count(&node) || way_to_raise(node, from, to_) != Raise::none);
      if (of_onnx(node.domain) && !is_raised && !may_stay(node, from)) note(node, where);
      for (const onnx::AttributeProto& a : node.attribute) {
        if (a.g) nodes(a.g->node, from, where, rewritten);
        for (const onnx::GraphProto& g : a.graphs) nodes(g.node, from, where, false);
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
    return (same(*now, *then) || keeps_meaning(node, from, *then)) && has_attributes(node);
  }
  static bool same(const onnx_ops::FormMatch& a, const onnx_ops::FormMatch& b) {
    return a.def == b.def && a.form.convert == b.form.convert && a.form.definition == b.form.definition;
  }
  // Forms differ, and this node is none of those to which that matters.
  bool keeps_meaning(const onnx::NodeProto& node, int from, const onnx_ops::FormMatch& then) const {
    for (const Change& c : changes()) {
      if (c.op != node.op_type || from < c.first || from >= c.changed || to_ < c.changed) continue;
      const auto changed = onnx_ops::find(registry_, "", node.op_type, c.changed);
      return changed && same(*changed, then) && c.stays(node);
    }
    return false;
  }
  bool has_attributes(const onnx::NodeProto& node) const {
    std::map<std::string, int> types;
    for (const onnx::AttributeProto& a : node.attribute) {
      if (a.type < 1 || a.type > 14) return false;
      types[a.name] = static_cast<int>(a.type);
    }
    try {
      onnx_import::check_attributes_of_standard(node.op_type, to_, types);
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
  const NodeSet& written_;
};

// The model's own graph and its bodies.
class RaisedGraphs {
 public:
  RaisedGraphs(int from, int to, const std::function<std::string(const std::string&)>& fresh, Edits& edits)
      : from_(from), to_(to), fresh_(fresh), initializers_(edits.initializers) {}

  void graph(const onnx::GraphProto& g, GraphEdits& edits) {
    for (std::size_t place = 0; place < g.node.size(); ++place) {
      const onnx::NodeProto& node = g.node[place];
      for (const onnx::AttributeProto& a : node.attribute)
        if (a.g) graph(*a.g, edits.bodies[place][a.name]);
      const Raise way = way_to_raise(node, from_, to_);
      if (way != Raise::none && !edits.left_out_nodes.count(place) && !edits.forms.count(place)) write(node, way, place, edits);
    }
  }

 private:
  void write(const onnx::NodeProto& node, Raise way, std::size_t place, GraphEdits& edits) {
    NewNode raised{node.op_type, node.name, node.input, node.output, {}, node.domain};
    if (const auto changed = edits.inputs.find(place); changed != edits.inputs.end())
      for (const auto& [operand, name] : changed->second) raised.inputs.at(operand) = name;
    for (const onnx::AttributeProto& a : node.attribute) {
      if (way == Raise::ratio) continue;
      if (a.type == kInt) raised.attributes[a.name] = a.i.value_or(0);
      if (a.type == kText) raised.texts[a.name] = a.s.value_or("");
      if (a.type != kInts) continue;
      Tensor axes(DType::i64, {static_cast<std::int64_t>(a.ints.size())});
      std::copy(a.ints.begin(), a.ints.end(), axes.mutable_data<std::int64_t>());
      raised.inputs.push_back(fresh_(node.output.empty() ? "axes" : node.output[0] + "_axes"));
      initializers_.emplace_back(raised.inputs.back(), std::move(axes));
    }
    if (way == Raise::outputs) raised.attributes["num_outputs"] = static_cast<std::int64_t>(node.output.size());
    if (const auto mode = raised.texts.find("mode"); way == Raise::modes && mode != raised.texts.end())
      mode->second = mode->second == "bilinear" ? "linear" : mode->second == "bicubic" ? "cubic" : mode->second;
    edits.before[place].push_back(std::move(raised)), edits.left_out_nodes.insert(place), edits.inputs.erase(place);
  }

  int from_, to_;
  const std::function<std::string(const std::string&)>& fresh_;
  std::vector<std::pair<std::string, Tensor>>& initializers_;
};

int version_of(const std::vector<onnx::OperatorSetIdProto>& imports, int otherwise) {
  for (const auto& import : imports)
    if (of_onnx(import.domain)) return static_cast<int>(import.version);
  return otherwise;
}

}  // namespace

int onnx_opset(const onnx::ModelProto& model) { return version_of(model.opset_import, 1); }

std::vector<std::string> nodes_in_the_way(const onnx::ModelProto& model, int opset, const ir::Registry& registry, const NodeSet& written) {
  Walk walk(opset, registry, written);
  if (model.graph) walk.nodes(model.graph->node, onnx_opset(model), "", true);
  for (const onnx::FunctionProto& f : model.functions) walk.nodes(f.node, version_of(f.opset_import, opset), f.name + "/", false);
  return walk.found;
}

void write_raised(const onnx::ModelProto& model, int opset, const std::function<std::string(const std::string&)>& fresh, Edits& edits) {
  RaisedGraphs(onnx_opset(model), opset, fresh, edits).graph(*model.graph, edits);
}

}  // namespace tenfold::onnx_export
