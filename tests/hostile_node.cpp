// Writing hostile nodes, and where they start from: the cases of the operators' table.
#include "hostile_node.h"

#include <sstream>

namespace tenfold {
namespace {

namespace onnx = onnx_import::onnx;

onnx::TensorProto proto_of(const std::string& name, const Tensor& t) {
  onnx::TensorProto proto;
  proto.name = name, proto.dims = t.shape(), proto.data_type = ops::onnx_number(t.dtype());
  if (t.dtype() == DType::string) {
    const auto values = t.string_values();
    proto.string_data.assign(values.begin(), values.end());
  } else {
    proto.raw_data = onnx_import::kept(std::string(static_cast<const char*>(t.raw()), static_cast<std::size_t>(t.bytes())));
  }
  return proto;
}

onnx::AttributeProto proto_of(const std::string& name, const ir::Attribute& value) {
  onnx::AttributeProto proto;
  proto.name = name;
  const auto type = [&](int number) { proto.type = number; };
  if (const auto* i = std::get_if<std::int64_t>(&value)) type(2), proto.i = *i;
  else if (const auto* f = std::get_if<float>(&value)) type(1), proto.f = *f;
  else if (const auto* s = std::get_if<std::string>(&value)) type(3), proto.s = *s;
  else if (const auto* ints = std::get_if<ir::Ints>(&value)) type(7), proto.ints = *ints;
  else if (const auto* floats = std::get_if<ir::Floats>(&value)) type(6), proto.floats.assign(floats->begin(), floats->end());
  else if (const auto* strings = std::get_if<ir::Strings>(&value)) type(8), proto.strings.assign(strings->begin(), strings->end());
  else if (const auto* tensor = std::get_if<Tensor>(&value)) type(4), proto.t.edit() = proto_of("", *tensor);
  return proto;
}

onnx::AttributeProto sample(const std::string& name, int type) {
  onnx::AttributeProto proto;
  proto.name = name, proto.type = type;
  switch (type) {
    case 1: proto.f = 1.0f; break;
    case 2: proto.i = 1; break;
    case 3: proto.s = "constant"; break;
    case 4: proto.t.edit() = proto_of("", ops::random_tensor(DType::f32, {2}, 3)); break;
    case 6: proto.floats = {1, 1}; break;
    case 7: proto.ints = {1, 1}; break;
    case 8: proto.strings = {"a", "b"}; break;
    default: break;
  }
  return proto;
}

// The standard's own attributes of the newest form of the operator: "axis:i! keepdims:i".
std::vector<onnx::AttributeProto> standard_attributes(const std::string& op) {
  static const std::map<std::string, int> kTypes{{"f", 1}, {"i", 2}, {"s", 3}, {"t", 4}, {"F", 6}, {"I", 7}, {"S", 8}};
  std::vector<onnx::AttributeProto> list;
  for (const onnx_import::StandardForm& form : onnx_import::kAttributeForms) {
    if (op != form.op) continue;
    list.clear();
    std::istringstream words(form.text);
    for (std::string word; words >> word;) {
      const std::size_t colon = word.find(':');
      std::string type = word.substr(colon + 1);
      if (!type.empty() && type.back() == '!') type.pop_back();
      if (const auto known = kTypes.find(type); known != kTypes.end()) list.push_back(sample(word.substr(0, colon), known->second));
    }
  }
  return list;
}

HostileNode named(const onnx_ops::Known& known) {
  HostileNode node;
  node.domain = known.domain, node.op = known.name;
  node.opset = known.domain.empty() ? std::max(known.since, 21) : std::max(known.since, 1);
  return node;
}

HostileNode from_case(const onnx_ops::Known& known, const ops::Case& c) {
  HostileNode node = named(known);
  for (const ops::CaseOperand& o : c.operands) node.operands.push_back({o.missing, o.constant, o.data, {}});
  for (const auto& [name, value] : c.attributes) node.attributes.push_back(proto_of(name, value));
  node.outputs = c.outputs;
  return node;
}

// Nothing is known but the name: a few operands that many operators take.
HostileNode guessed(const onnx_ops::Known& known, int kind) {
  static const Shape kShapes[] = {{2, 3}, {1, 4, 8, 8}, {2, 4, 6}, {5}};
  HostileNode node = named(known);
  node.attributes = known.domain.empty() ? standard_attributes(known.name) : std::vector<onnx::AttributeProto>{};
  if (const ir::OpDef* def = ir::Registry::builtin().find(known.name); def && node.attributes.empty())
    for (const auto& [name, value] : def->attributes) node.attributes.push_back(proto_of(name, value));
  const DType type = kind % 3 == 0 ? DType::i64 : DType::f32;
  for (int i = 0; i < 1 + kind; ++i)
    node.operands.push_back({false, i > 0, ops::random_tensor(i > 1 && kind % 2 ? DType::i64 : type, kShapes[(kind + i) % 4],
                                                             static_cast<std::uint64_t>(i + 1)), {}});
  return node;
}

}  // namespace

onnx::ModelProto model_of(const HostileNode& node) {
  onnx::ModelProto model = onnx_import::new_model(node.domain.empty() ? node.opset : 21);
  model.ir_version = 10;
  if (!node.domain.empty()) model.opset_import.push_back({node.domain, node.opset});
  onnx::GraphProto& graph = model.graph.edit();
  onnx_import::Names inputs, outputs;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const HostileOperand& o = node.operands[i];
    inputs.push_back(o.missing ? "" : cat("x", i));
    if (o.missing) continue;
    if (o.constant) {
      graph.initializer.push_back(proto_of(inputs.back(), o.data));
      continue;
    }
    onnx_import::Names dims = o.declared;
    if (dims.empty())
      for (const std::int64_t extent : o.data.shape()) dims.push_back(std::to_string(extent));
    onnx_import::add_input(graph, inputs.back(), dims, o.data.dtype());
  }
  for (int i = 0; i < node.outputs; ++i) outputs.push_back(cat("y", i));
  onnx::NodeProto& victim = onnx_import::add_node(graph, node.op, inputs, outputs, "victim");
  victim.domain = node.domain, victim.attribute = node.attributes;
  for (const std::string& y : outputs) onnx_import::add_output(graph, y);
  return model;
}

std::vector<Tensor> inputs_of(const HostileNode& node) {
  std::vector<Tensor> list;
  for (const HostileOperand& o : node.operands)
    if (!o.missing && !o.constant) list.push_back(o.data);
  return list;
}

std::vector<HostileNode> bases(const onnx_ops::Known& known) {
  std::vector<HostileNode> list;
  const ir::OpDef* def = ir::Registry::builtin().find(known.name);
  if (def)
    for (std::size_t i = 0; i < def->cases.size() && i < 6; ++i) list.push_back(from_case(known, ops::parse_case(*def, def->cases[i])));
  for (int kind = 0; kind < 4; ++kind) list.push_back(guessed(known, kind));
  return list;
}

}  // namespace tenfold
