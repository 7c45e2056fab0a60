#include "onnx_export/raise_forms.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "base/types/element.h"

namespace tenfold::onnx_export {
namespace {

using Ints = std::vector<std::int64_t>;

// A node that is about to be written in another form.
class Node {
 public:
  Node(const onnx::NodeProto& proto, const Raising& raising) : proto_(proto), raising_(raising), form_{.inputs = proto.input} {}

  const onnx::AttributeProto* attribute(std::string_view name) const {
    for (const onnx::AttributeProto& a : proto_.attribute)
      if (a.name == name) return &a;
    return nullptr;
  }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const auto* a = attribute(name);
    return a && a->i ? *a->i : otherwise;
  }
  // Does the change of that version lie between the two?
  bool crosses(int version) const { return raising_.from < version && raising_.to >= version; }
  const Raising& raising() const { return raising_; }
  std::size_t inputs() const { return proto_.input.size(); }
  std::size_t outputs() const {   // that are asked for
    const auto asked = [](const std::string& o) { return !o.empty(); };
    return static_cast<std::size_t>(std::count_if(proto_.output.begin(), proto_.output.end(), asked));
  }
  const std::string& input(std::size_t i) const { return form_.inputs.at(i); }
  const std::string& op() const { return proto_.op_type; }
  // Null: its number of axes or type is not known.
  const ir::ValueType* type(std::size_t i) const { return i < proto_.input.size() ? raising_.type(proto_.input[i]) : nullptr; }

  // The change is made. Each returns true, for rows that end so.
  bool without(std::initializer_list<const char*> names) {
    for (const char* name : names) form_.without.insert(name);
    return changed_ = true;
  }
  bool set(const std::string& name, std::int64_t value) { return form_.attributes[name] = value, changed_ = true; }
  bool set(const std::string& name, const std::string& value) { return form_.texts[name] = value, changed_ = true; }
  bool become(const std::string& op) { return form_.op = op, changed_ = true; }
  bool set_input(std::size_t i, const std::string& name) {
    form_.inputs.resize(std::max(form_.inputs.size(), i + 1));
    return form_.inputs[i] = name, changed_ = true;
  }
  // An attribute becomes an operand; where it is missing, nothing is put there.
  bool to_input(const char* name, std::size_t i) {
    if (const auto* a = attribute(name)) without({name}), set_input(i, constant(name, a->ints));
    return changed_ = true;
  }

  std::string constant(const std::string& stem, const Ints& values, bool scalar = false) {
    Tensor t(DType::i64, scalar ? Shape{} : Shape{static_cast<std::int64_t>(values.size())});
    std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
    return initializer(stem, std::move(t));
  }
  std::string constant(const std::string& stem, const std::vector<float>& values) {
    Tensor t(DType::f32, {static_cast<std::int64_t>(values.size())});
    std::copy(values.begin(), values.end(), t.mutable_data<float>());
    return initializer(stem, std::move(t));
  }
  // A scalar of the type that operand 0 has; false: the type is not known.
  bool scalar_input(std::size_t i, const std::string& stem, float value) {
    const ir::ValueType* of = type(0);
    if (!of || !of->is_tensor()) return false;
    Tensor t(of->tensor.dtype, {});
    store_double(t.dtype(), t.mutable_raw(), 0, value);
    return set_input(i, initializer(stem, std::move(t)));
  }
  std::string initializer(const std::string& stem, Tensor tensor) {
    const std::string name = raising_.fresh(base() + "_" + stem);
    initializers_.emplace_back(name, std::move(tensor));
    return name;
  }
  // A node in front of this one, of one result.
  std::string before(NewNode node) {
    node.name = raising_.fresh(base() + "_" + node.op), node.outputs = {raising_.fresh(base() + "_" + node.op + "_out")};
    std::string result = node.outputs[0];
    before_.push_back(std::move(node));
    return result;
  }
  // Operand `i`, of `rank` axes, gets `count` more of extent 1 behind them.
  bool append_axes(std::size_t i, std::int64_t rank, std::int64_t count) {
    Ints axes;
    for (std::int64_t d = 0; d < count; ++d) axes.push_back(rank + d);
    if (axes.empty()) return true;
    return set_input(i, before({.op = "Unsqueeze", .name = "", .inputs = {input(i), constant("axes", axes)}, .outputs = {}}));
  }
  // What comes to stand in the place of this node.
  bool replace(NewNode node) {
    node.name = proto_.name, node.outputs = proto_.output;
    before_.push_back(std::move(node));
    return replaced_ = true;
  }

  using Initializers = std::vector<std::pair<std::string, Tensor>>;
  void write(std::size_t place, GraphEdits& edits, Initializers& initializers) {
    std::move(initializers_.begin(), initializers_.end(), std::back_inserter(initializers));
    if (!before_.empty()) edits.before[place] = std::move(before_);
    if (replaced_) edits.left_out_nodes.insert(place);
    else if (changed_) edits.forms[place] = std::move(form_);
  }

 private:
  const std::string& base() const { return proto_.name.empty() ? proto_.output.at(0) : proto_.name; }

  const onnx::NodeProto& proto_;
  const Raising& raising_;
  NodeForm form_;
  std::vector<NewNode> before_;
  Initializers initializers_;
  bool changed_ = false, replaced_ = false;
};

// What a version changed: false where the node has no form there.
using Change = bool (*)(Node&);
struct Row {
  const char* ops;   // with spaces around each
  int version;       // the first that has the new form
  Change change;
};

// Before version 7 the second operand's axes began at `axis` of the first; without it they were the last ones, as they are now.
bool broadcast(Node& n) {
  const std::int64_t axis = n.integer("axis", -1000);
  n.without({"broadcast", "axis", "consumed_inputs"});
  if (axis == -1000 || n.integer("broadcast", 0) == 0) return true;
  const ir::ValueType *a = n.type(0), *b = n.type(1);
  if (!a || !b || !a->ranked || !b->ranked || n.raising().to < 13) return false;
  const auto ranks = static_cast<std::int64_t>(a->tensor.dims.size()), own = static_cast<std::int64_t>(b->tensor.dims.size());
  return n.append_axes(1, own, ranks - own - (axis < 0 ? axis + ranks : axis));
}
// A slope for each channel.
bool prelu(Node& n) {
  const ir::ValueType *x = n.type(0), *slope = n.type(1);
  n.without({"consumed_inputs"});
  if (!x || !slope || !x->ranked || !slope->ranked) return false;
  const auto ranks = static_cast<std::int64_t>(x->tensor.dims.size());
  if (slope->tensor.dims.size() != 1 || ranks < 3 || slope->tensor.dims[0] == ir::Dim(1)) return true;
  return n.raising().to >= 13 && n.append_axes(1, 1, ranks - 2);
}

// Softmax over all axes from `axis` on became one over `axis` alone.
bool softmax(Node& n) {
  const ir::ValueType* x = n.type(0);
  if (!x || !x->ranked) return false;
  const auto rank = static_cast<std::int64_t>(x->tensor.dims.size());
  const std::int64_t axis = n.integer("axis", 1), from_front = axis < 0 ? axis + rank : axis;
  if (from_front == rank - 1) return n.set("axis", rank - 1);
  const std::string shape = n.before({.op = "Shape", .name = "", .inputs = {n.input(0)}, .outputs = {}});
  const std::string flat =
      n.before({.op = "Flatten", .name = "", .inputs = {n.input(0)}, .outputs = {}, .attributes = {{"axis", from_front}}});
  const std::string rows = n.before({.op = n.op(), .name = "", .inputs = {flat}, .outputs = {}, .attributes = {{"axis", 1}}});
  return n.replace({.op = "Reshape", .name = "", .inputs = {rows, shape}, .outputs = {}});
}

bool clip(Node& n) {
  const auto *low = n.attribute("min"), *high = n.attribute("max");
  n.without({"min", "max", "consumed_inputs"});
  return (!low || !low->f || n.scalar_input(1, "min", *low->f)) && (!high || !high->f || n.scalar_input(2, "max", *high->f));
}
bool pad(Node& n) {
  const auto* value = n.attribute("value");
  if (!n.to_input(n.attribute("paddings") ? "paddings" : "pads", 1)) return false;
  n.without({"value"});
  return !value || !value->f || *value->f == 0 || n.scalar_input(2, "value", *value->f);
}
bool slice(Node& n) { return n.to_input("starts", 1) && n.to_input("ends", 2) && n.to_input("axes", 3); }
bool top_k(Node& n) {
  const std::int64_t k = n.integer("k", -1);
  return k >= 0 && n.without({"k"}) && n.set_input(1, n.constant("k", Ints{k}));
}
bool split(Node& n) {   // to 13
  if (n.attribute("split")) return n.to_input("split", 1);
  return n.raising().to < 18 || n.set("num_outputs", static_cast<std::int64_t>(n.outputs()));
}
bool upsample(Node& n) {
  const auto* scales = n.attribute("scales");
  if (scales && n.inputs() == 1) n.without({"scales"}), n.set_input(2, n.constant("scales", scales->floats));
  else if (n.inputs() == 2) n.set_input(2, n.input(1));
  else return false;
  n.set_input(1, n.constant("roi", std::vector<float>()));
  return n.set("coordinate_transformation_mode", "asymmetric") && n.set("nearest_mode", "floor") && n.become("Resize");
}
bool upsample_now(Node& n) { return n.raising().to >= 11 && upsample(n); }   // Resize 10 is another operator
bool batch_norm(Node& n) {
  return n.outputs() == 1 && n.integer("spatial", 1) != 0 && n.without({"spatial", "is_test", "consumed_inputs"});
}
bool dropout(Node& n) { return n.outputs() == 1 && n.without({"ratio", "is_test", "consumed_inputs"}); }
bool cast(Node& n) {
  const auto* to = n.attribute("to");
  if (!to || !to->s) return to != nullptr;
  static const std::map<std::string, int> numbers{{"FLOAT", 1}, {"UINT8", 2}, {"INT8", 3},  {"UINT16", 4},   {"INT16", 5},   {"INT32", 6},
                                                  {"INT64", 7}, {"BOOL", 9},  {"FLOAT16", 10}, {"DOUBLE", 11}, {"UINT32", 12},
                                                  {"UINT64", 13}};
  const auto found = numbers.find(*to->s);
  return found != numbers.end() && n.set("to", found->second);
}
bool roi_align(Node& n) { return n.set("coordinate_transformation_mode", "output_half_pixel"); }
bool dft(Node& n) {
  const std::int64_t axis = n.integer("axis", 1);
  if (n.inputs() < 2) n.set_input(1, "");
  return n.without({"axis"}) && n.set_input(2, n.constant("axis", Ints{axis}, true));
}
// Scale and bias of each group became those of each channel.
bool group_norm(Node& n) {
  const ir::ValueType* x = n.type(0);
  const std::int64_t groups = n.integer("num_groups", 0);
  if (!x || !x->ranked || x->tensor.dims.size() < 2 || !x->tensor.dims[1].is_constant() || groups < 1) return false;
  const std::int64_t each = x->tensor.dims[1].constant() / groups;
  const std::string shape = n.constant("shape", Ints{groups, each}), all = n.constant("channels", Ints{-1});
  for (std::size_t i : {1, 2}) {
    n.append_axes(i, 1, 1);
    const std::string spread = n.before({.op = "Expand", .name = "", .inputs = {n.input(i), shape}, .outputs = {}});
    n.set_input(i, n.before({.op = "Reshape", .name = "", .inputs = {spread, all}, .outputs = {}}));
  }
  return true;
}
bool old_inputs(Node& n) { return n.without({"consumed_inputs"}); }

const Row kRows[] = {
    {" Abs Ceil Elu Exp Floor HardSigmoid InstanceNormalization LeakyRelu Log Max Mean Min Neg Reciprocal Relu Selu Sigmoid Sqrt Sum "
     "Tanh ",
     6, old_inputs},
    {" Add And Div Equal Greater Less Mul Or Pow Sub Xor ", 7, broadcast},
    {" PRelu ", 7, prelu},
    {" Gemm ", 7, [](Node& n) { return n.without({"broadcast"}); }},
    {" Cast ", 6, cast},
    {" Concat ", 4, [](Node& n) { return n.attribute("axis") != nullptr || n.set("axis", 1); }},
    {" Reshape ", 5, [](Node& n) { return n.attribute("shape") && n.without({"consumed_inputs"}) && n.to_input("shape", 1); }},
    {" LSTM GRU RNN ", 7, [](Node& n) { return n.without({"output_sequence"}); }},
    {" BatchNormalization ", 9, batch_norm},
    {" BatchNormalization ", 14, batch_norm},
    {" Dropout ", 12, dropout},
    {" Slice ", 10, slice},
    {" TopK ", 10, top_k},
    {" Upsample ", 10, upsample_now},
    {" Resize ", 11, upsample},
    {" Clip ", 11, clip},
    {" Pad ", 11, pad},
    {" Scatter ", 11, [](Node& n) { return n.become("ScatterElements"); }},
    {" Softmax LogSoftmax Hardmax ", 13, softmax},
    {" Split ", 13, split},
    {" RoiAlign ", 16, roi_align},
    {" DFT ", 20, dft},
    {" GroupNormalization ", 21, group_norm},
};

bool names(const char* ops, const std::string& op) { return std::string_view(ops).find(" " + op + " ") != std::string_view::npos; }

class Writer {
 public:
  Writer(const Raising& raising, Node::Initializers& initializers) : raising_(raising), initializers_(initializers) {}

  void graph(const onnx::GraphProto& g, GraphEdits& edits) {
    for (std::size_t place = 0; place < g.node.size(); ++place) {
      node(g.node[place], place, edits);
      for (const onnx::AttributeProto& a : g.node[place].attribute)
        if (a.g) graph(*a.g, edits.bodies[place][a.name]);
    }
  }
  NodeSet written;

 private:
  void node(const onnx::NodeProto& proto, std::size_t place, GraphEdits& edits) {
    if (!proto.domain.empty() && proto.domain != "ai.onnx") return;
    Node node(proto, raising_);
    bool crossed = false, has_form = true;
    for (const Row& row : kRows)
      if (node.crosses(row.version) && names(row.ops, proto.op_type)) crossed = true, has_form = has_form && row.change(node);
    if (has_form && crossed) node.write(place, edits, initializers_), written.insert(&proto);
  }

  const Raising& raising_;
  Node::Initializers& initializers_;
};

}  // namespace

NodeSet write_forms(const onnx::ModelProto& model, const Raising& raising, Edits& edits) {
  Writer writer(raising, edits.initializers);
  writer.graph(*model.graph, edits);
  return std::move(writer.written);
}

}  // namespace tenfold::onnx_export
