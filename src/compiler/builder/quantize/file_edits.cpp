#include "builder/quantize/file_edits.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "builder/quantize/model_uses.h"

namespace tenfold::builder {
namespace {

using onnx_export::NewNode;

Tensor zeros(DType type, const Shape& shape) {
  Tensor t(type, shape);
  std::fill_n(static_cast<std::byte*>(t.mutable_raw()), t.bytes(), std::byte{0});
  return t;
}

// f32[channels] of a bias, by the scales of the sums that it is added to; undefined if i32 does not hold it.
Tensor rounded_bias(const Tensor& bias, const Tensor& scales) {
  constexpr double kMax = 1 << 30;
  Tensor result(DType::i32, bias.shape());
  for (std::int64_t i = 0; i < bias.size(); ++i) {
    const double steps = static_cast<double>(bias.data<float>()[i]) / static_cast<double>(scales.data<float>()[i]);
    if (!(std::fabs(steps) <= kMax)) return {};
    result.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(std::llround(steps));
  }
  return result;
}

class Maker {
 public:
  Maker(const ir::Graph& placed, const Before& before, const onnx::ModelProto& model, const FileNodes& nodes, const FileForm& form)
      : graph_(placed), before_(before), model_(model), nodes_(nodes), form_(form), names_(model) {}

  FileEdits run() {
    std::multimap<std::size_t, const ir::Node*> nodes;   // in the order of the file: what is new stands in front of its first reader
    for (const auto& node : graph_.nodes())
      if (before_.operands.count(node->id))
        if (const auto place = nodes_.place_of(*node)) nodes.emplace(*place, node.get());
    for (const auto& [place, node] : nodes) quant::is_product(*node) ? product(place, *node) : reader(place, *node);
    if (!form_.keeps_weights) leave_out_unused(*model_.graph, replaced_, out_.edits);
    return std::move(out_);
  }

 private:
  const onnx::NodeProto& proto(std::size_t place) const { return model_.graph->node[place]; }
  // The DequantizeLinear that was placed before an operand; null: there is none.
  const ir::Node* placed(const ir::Node& node, std::size_t operand) const {
    const ir::Value* v = node.in(static_cast<int>(operand));
    return v && v->producer && v->producer->id > before_.last_node && v->producer->op() == "DequantizeLinear" ? v->producer : nullptr;
  }
  bool stands_there(std::size_t place, const ir::Node& node, std::size_t operand) const {
    const ir::Value* old = before_.operands.at(node.id)[operand];
    return operand < proto(place).input.size() && old && nodes_.is_called(*old, proto(place).input[operand]);
  }

  void product(std::size_t place, const ir::Node& node) {
    const ir::Node *x = placed(node, 0), *w = placed(node, 1);
    if (const ir::Node* factors = scaling(node.in(0)); factors && stands_there(place, node, 0))
      set(place, 0, scaled(place, *factors, proto(place).input[0]));
    if (!w || (x && !stands_there(place, node, 0))) return constants(place, node);
    if (x) set(place, 0, data(place, *x, proto(place).input[0]));
    set(place, 1, weights(place, *w));
    if (!form_.integer_bias || !x || !bias(place, node, *x, *w)) constants(place, node);
    out_.quantized.insert(place);
  }
  // Those that corrections changed.
  void constants(std::size_t place, const ir::Node& node) {
    const std::vector<const ir::Value*>& old = before_.operands.at(node.id);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::Value* v = node.in(static_cast<int>(i));
      if (!v || !v->is_constant() || (i < old.size() && old[i] && old[i]->id == v->id)) continue;
      const bool is_new = i >= old.size() || !old[i];
      require(is_new ? quant::is_product(node) : stands_there(place, node, i), ErrorKind::unsupported, "'", shown(proto(place)),
              "' has no operand of its own that corrections could change; do without them (Calibration::corrections, --corrections=none)");
      if (!is_new) replaced_.insert(proto(place).input[i]);
      set(place, i, initializer(stem_of(place, i, "_corrected"), v->constant->tensor));
    }
  }
  std::string stem_of(std::size_t place, std::size_t operand, const std::string& ending) const {
    const onnx::NodeProto& node = proto(place);
    return operand < node.input.size() && !node.input[operand].empty() ? node.input[operand] + ending : node.output[0] + "_bias";
  }
  // The multiplication that was placed behind a value; null: there is none.
  const ir::Node* scaling(const ir::Value* v) const {
    return v && v->producer && v->producer->id > before_.last_node && v->producer->op() == "Mul" ? v->producer : nullptr;
  }
  std::string scaled(std::size_t place, const ir::Node& mul, const std::string& x) {
    std::string& made = written_[mul.out()];
    if (!made.empty()) return made;
    const std::string factors = initializer(x + "_factors", mul.in(1)->constant->tensor), name = names_.value(x + "_scaled");
    add(place, {"Mul", names_.node(x + "_Mul"), {x, factors}, {name}});
    return made = name;
  }
  // What passes elements on, and sums.
  void reader(std::size_t place, const ir::Node& node) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (const ir::Node* dq = placed(node, i); dq && stands_there(place, node, i)) set(place, i, data(place, *dq, proto(place).input[i]));
    constants(place, node);
  }

  void set(std::size_t place, std::size_t operand, const std::string& name) { out_.edits.inputs[place][operand] = name; }
  void add(std::size_t place, NewNode node) { out_.edits.before[place].push_back(std::move(node)); }
  std::string initializer(const std::string& stem, Tensor tensor) {
    std::string name = names_.value(stem);
    out_.edits.initializers.emplace_back(name, std::move(tensor));
    return name;
  }
  // Concat and the like share one with their operands.
  std::string parameter(const ir::Value* v, const std::string& stem) {
    std::string& name = written_[v];
    if (name.empty()) name = initializer(stem, v->constant->tensor);
    return name;
  }

  std::string data(std::size_t place, const ir::Node& dq, std::string x) {
    std::string& made = written_[dq.out()];
    if (!made.empty()) return made;
    if (const ir::Node* factors = scaling(dq.in(0)->producer->in(0))) x = scaled(place, *factors, x);
    const std::string scale = parameter(dq.in(1), x + "_scale"), zero = parameter(dq.in(2), x + "_zero_point");
    const std::string q = names_.value(x + "_quantized"), name = names_.value(x + "_dequantized");
    add(place, {"QuantizeLinear", names_.node(x + "_QuantizeLinear"), {x, scale, zero}, {q}});
    add(place, {"DequantizeLinear", names_.node(x + "_DequantizeLinear"), {q, scale, zero}, {name}});
    return made = name;
  }

  std::string dequantized(std::size_t place, const std::string& stem, Tensor values, Tensor scales, std::int64_t axis) {
    const DType type = values.dtype();
    const Shape shape = scales.shape();
    const std::string q = initializer(stem + "_quantized", std::move(values)), s = initializer(stem + "_scale", std::move(scales));
    const std::string z = initializer(stem + "_zero_point", zeros(type, shape)), name = names_.value(stem + "_dequantized");
    add(place, {"DequantizeLinear", names_.node(stem + "_DequantizeLinear"), {q, s, z}, {name}, {{"axis", axis}}});
    return name;
  }

  std::string weights(std::size_t place, const ir::Node& dq) {
    const std::string& old = proto(place).input[1];
    replaced_.insert(old);
    std::string& made = written_[dq.out()];
    if (!made.empty()) return made;
    return made = dequantized(place, old, dq.in(0)->constant->tensor, dq.in(1)->constant->tensor, dq.attributes.integer("axis", 0));
  }

  // Whether it is written in integers.
  bool bias(std::size_t place, const ir::Node& node, const ir::Node& x, const ir::Node& w) {
    const ir::Value* b = node.in(2);
    const Tensor& steps = w.in(1)->constant->tensor;
    if (!b || !b->is_constant() || b->dtype() != DType::f32 || b->constant->tensor.shape() != steps.shape()) return false;
    if (node.attributes.number("alpha", 1) != 1 || node.attributes.number("beta", 1) != 1) return false;
    Tensor scales(DType::f32, steps.shape());
    for (std::int64_t i = 0; i < steps.size(); ++i)
      scales.mutable_data<float>()[i] = *x.in(1)->constant->tensor.data<float>() * steps.data<float>()[i];
    Tensor values = rounded_bias(b->constant->tensor, scales);
    if (!values.defined()) return false;
    const std::string old = stem_of(place, 2, "");
    replaced_.insert(old);
    set(place, 2, dequantized(place, old, std::move(values), std::move(scales), 0));
    return true;
  }

  const ir::Graph& graph_;
  const Before& before_;
  const onnx::ModelProto& model_;
  const FileNodes& nodes_;
  const FileForm form_;
  FreshNames names_;
  FileEdits out_;
  std::map<const ir::Value*, std::string> written_;   // what values are called in the file
  std::set<std::string> replaced_;                    // weights that have a form in 8 bits now
};

}  // namespace

Before::Before(const ir::Graph& graph) : last_node(graph.last_node()) {
  for (const auto& node : graph.nodes()) operands[node->id].assign(node->inputs.begin(), node->inputs.end());
}

FileEdits file_edits(const ir::Graph& placed, const Before& before, const onnx::ModelProto& model, const FileNodes& nodes,
                     const FileForm& form) {
  return Maker(placed, before, model, nodes, form).run();
}

}  // namespace tenfold::builder
