#include "builder/quantize/products.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "ir/finite.h"
#include "tenfold/internal/nearest.h"

namespace tenfold::builder {
namespace {

bool of_onnx(const onnx::NodeProto& node) { return node.domain.empty() || node.domain == "ai.onnx"; }

bool fits(const std::string& name, const std::string& pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return name == pattern;
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) && name.ends_with(pattern.substr(star + 1));
}

// Those that Q/DQ can make products of integers.
bool may_be_quantized(const onnx::NodeProto& node) { return node.op_type == "Conv" || node.op_type == "MatMul" || node.op_type == "Gemm"; }

class LayerReporter {
 public:
  explicit LayerReporter(QuantizeReport& report) : report_(report) {}
  void left(const std::string& why, const onnx::NodeProto& node) {
    ++report_.layers;
    const auto same = [&](const QuantizeReport::Left& l) { return l.why == why; };
    auto at = std::find_if(report_.left.begin(), report_.left.end(), same);
    if (at == report_.left.end()) at = report_.left.insert(at, QuantizeReport::Left{why, {}});
    at->nodes.push_back(shown(node));
  }
  void bodies(const std::vector<onnx::NodeProto>& nodes, const char* why, bool inside) {
    for (const onnx::NodeProto& node : nodes) {
      if (inside && is_product(node)) left(why, node);
      for (const onnx::AttributeProto& a : node.attribute) {
        if (a.g) bodies(a.g->node, why, true);
        for (const onnx::GraphProto& g : a.graphs) bodies(g.node, why, true);
      }
    }
  }

 private:
  QuantizeReport& report_;
};

std::string why_left(const onnx::NodeProto& proto, const ir::Node* node) {
  if (!may_be_quantized(proto)) return cat("there is no integer kernel for ", proto.op_type);
  if (!node) return "their results are constant, or nobody reads them";
  if (const std::string why = quant::why_wide(*node); !why.empty()) return why;
  if (!ir::all_finite(node->in(1)->constant->tensor)) return "their weights hold NaN or infinity";
  return "calibration has only zeros, or no values, for their data";
}

}  // namespace

bool is_product(const onnx::NodeProto& node) {
  static const std::set<std::string_view> others{"ConvTranspose", "Einsum", "LSTM", "GRU", "RNN"};
  return of_onnx(node) && (may_be_quantized(node) || others.count(node.op_type));
}

std::string shown(const onnx::NodeProto& node) { return node.name.empty() && !node.output.empty() ? "-> " + node.output[0] : node.name; }

std::set<std::size_t> products_named(const onnx::GraphProto& graph, const std::vector<std::string>& patterns) {
  std::set<std::size_t> places;
  for (const std::string& pattern : patterns) {
    require(std::count(pattern.begin(), pattern.end(), '*') <= 1, ErrorKind::invalid_argument, "'", pattern,
            "' of the excluded names has more than one '*'");
    std::vector<std::string> names;
    bool any = false;
    for (std::size_t i = 0; i < graph.node.size(); ++i) {
      if (!is_product(graph.node[i])) continue;
      names.push_back(shown(graph.node[i]));
      if (fits(names.back(), pattern)) places.insert(i), any = true;
    }
    const std::string near = nearest(pattern, names);
    require(any, ErrorKind::invalid_argument, "'", pattern, "' excludes nothing: no Conv, Gemm or MatMul of the model's graph ",
            "has such a name", near.empty() ? names.empty() ? "; it has none" : cat("; the first is '", names.front(), "'")
                                            : cat("; did you mean '", near, "'?"));
  }
  return places;
}

FileNodes::FileNodes(const onnx::ModelProto& model, const ir::NameTable& names) : model_(model), names_(names) {
  std::map<std::string_view, int> tensors;   // what is in a function may have the name of what is outside: then neither is found
  for (const std::string& name : names.tensors) ++tensors[name];
  std::map<std::string_view, std::int32_t> makers;
  for (std::size_t n = 0; n < names.nodes.size(); ++n)
    for (const std::int32_t t : names.nodes[n].outputs)
      makers[names.tensors.at(static_cast<std::size_t>(t))] = static_cast<std::int32_t>(n);
  for (std::size_t i = 0; i < model.graph->node.size(); ++i) {
    const std::vector<std::string>& outputs = model.graph->node[i].output;
    if (outputs.empty() || tensors[outputs[0]] != 1) continue;
    if (const auto at = makers.find(outputs[0]); at != makers.end()) places_[at->second] = i;
  }
}

std::optional<std::size_t> FileNodes::place_of(const ir::Node& node) const {
  if (node.sources.own.size() != 1 || !node.sources.behind.empty()) return {};
  const auto at = places_.find(node.sources.own[0]);
  if (at == places_.end()) return {};
  const onnx::NodeProto& proto = model_.graph->node[at->second];
  if (!of_onnx(proto) || (quant::is_product(node) && proto.op_type != node.op())) return {};
  return at->second;
}

bool FileNodes::is_called(const ir::Value& value, const std::string& name) const {
  return std::any_of(value.names.begin(), value.names.end(),
                     [&](std::int32_t t) { return names_.tensors.at(static_cast<std::size_t>(t)) == name; });
}

void report_layers(const onnx::ModelProto& model, const ir::Graph& graph, const FileNodes& file, const WhyLeft& left,
                   const std::set<std::size_t>& quantized, QuantizeReport& report) {
  std::map<std::size_t, const ir::Node*> nodes;
  for (const auto& node : graph.nodes())
    if (const auto place = file.place_of(*node)) nodes[*place] = node.get();
  LayerReporter reporter(report);
  for (std::size_t i = 0; i < model.graph->node.size(); ++i) {
    const onnx::NodeProto& proto = model.graph->node[i];
    if (!is_product(proto)) continue;
    if (quantized.count(i)) {
      ++report.layers, ++report.quantized;
      continue;
    }
    const auto node = nodes.find(i);
    const auto why = left.find(i);
    reporter.left(why != left.end() ? why->second : why_left(proto, node == nodes.end() ? nullptr : node->second), proto);
  }
  reporter.bodies(model.graph->node, "they are in bodies of If, Loop or Scan, which stay as they are", false);
  for (const onnx::FunctionProto& f : model.functions) reporter.bodies(f.node, "they are in functions, which stay as they are", true);
}

}  // namespace tenfold::builder
