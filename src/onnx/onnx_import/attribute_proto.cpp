// AttributeProto to ir::Attribute, with the declared type checked against what is there.
#include "base/check.h"
#include "onnx_import/importer.h"
#include "onnx_import/tensor_proto.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_import {
namespace {

enum Type { kUndefined, kFloat, kInt, kString, kTensor, kGraph, kFloats, kInts, kStrings, kTensors, kGraphs, kSparse, kSparses, kTp, kTps };
constexpr const char* kTypeNames[] = {"undefined", "float", "int", "string", "tensor", "graph", "floats", "ints", "strings", "tensors",
                                      "graphs", "sparse tensor", "sparse tensors", "type", "types"};

// Which kinds of value the message holds, as bits of Type. Writers that follow proto3 leave out zeros and empty lists.
unsigned held(const onnx::AttributeProto& a) {
  unsigned bits = 0;
  const auto add = [&](bool there, Type type) { bits |= there ? 1u << type : 0u; };
  add(a.f.has_value(), kFloat), add(a.i.has_value(), kInt), add(a.s.has_value(), kString);
  add(bool(a.t), kTensor), add(bool(a.g), kGraph);
  add(a.floats.size() > 0, kFloats), add(a.ints.size() > 0, kInts), add(a.strings.size() > 0, kStrings);
  add(a.tensors.size() > 0, kTensors), add(a.graphs.size() > 0, kGraphs), add(bool(a.sparse_tensor), kSparse);
  add(a.sparse_tensors.size() > 0, kSparses), add(bool(a.tp), kTp), add(a.type_protos.size() > 0, kTps);
  return bits;
}

// Files of the first IR version have no type field: then the one value that is there tells.
Type type_of(const onnx::AttributeProto& a) {
  const unsigned there = held(a);
  require(a.type >= 0 && a.type <= kTps, ErrorKind::invalid_model, "attribute '", a.name, "' has the unknown type ", a.type);
  if (a.type != kUndefined) return static_cast<Type>(a.type);
  for (int type = kFloat; type <= kTps; ++type)
    if (there == 1u << type) return static_cast<Type>(type);
  fail(ErrorKind::invalid_model, cat("attribute '", a.name, "' has no type"));
}

std::string type_text(const onnx::TypeProto& type) {
  const bool optional = bool(type.optional_type);
  const onnx::TypeProto& inner = optional ? *type.optional_type : type;
  const bool sequence = bool(inner.sequence_type);
  const onnx::TypeProto& element = sequence ? *inner.sequence_type : inner;
  require(element.tensor_type.has_value(), ErrorKind::unsupported, "a type other than of tensors, and sequences and optionals of them");
  std::string text = cat(name(ops::dtype_from_onnx(element.tensor_type->elem_type)), "[?]");
  if (sequence) text = cat("seq(", text, ")");
  return optional ? cat("opt(", text, ")") : text;
}

}  // namespace

bool is_graph(const onnx::AttributeProto& a) { return a.g || a.graphs.size() > 0 || a.type == kGraph || a.type == kGraphs; }

int attribute_type(const onnx::AttributeProto& a) { return type_of(a); }

ir::Attribute to_attribute(const onnx::AttributeProto& a, ExternalData* files) {
  const Type type = type_of(a);
  const unsigned other = held(a) & ~(1u << type);
  for (int t = kFloat; t <= kTps; ++t)
    require(!(other & 1u << t), ErrorKind::invalid_model, "attribute '", a.name, "' is declared as ", kTypeNames[type], " but holds ",
            kTypeNames[t]);
  switch (type) {
    case kFloat: return a.f.value_or(0);
    case kInt: return a.i.value_or(0);
    case kString: return a.s.value_or("");
    case kTensor: return to_tensor(a.t ? *a.t : onnx::TensorProto(), files);
    case kSparse: return to_tensor(a.sparse_tensor ? *a.sparse_tensor : onnx::SparseTensorProto(), files);
    case kFloats: return ir::Floats(a.floats.begin(), a.floats.end());
    case kInts: return ir::Ints(a.ints.begin(), a.ints.end());
    case kStrings: return ir::Strings(a.strings.begin(), a.strings.end());
    case kTp: return type_text(a.tp ? *a.tp : onnx::TypeProto());
    default: fail(ErrorKind::unsupported, cat("attribute '", a.name, "' is of type ", kTypeNames[type]));
  }
}

NodeAttributes resolve(const onnx::NodeProto& proto, const Scope& scope) {
  NodeAttributes result;
  for (const auto& attribute : proto.attribute) {
    require(!result.count(attribute.name), ErrorKind::invalid_model, "attribute '", attribute.name, "' is given twice");
    if (attribute.ref_attr_name.empty()) {
      result[attribute.name] = &attribute;
      continue;
    }
    require(scope.bindings != nullptr, ErrorKind::invalid_model, "attribute '", attribute.name, "' refers to '",
            attribute.ref_attr_name, "' of a function, but stands outside functions");
    const auto bound = scope.bindings->find(attribute.ref_attr_name);
    if (bound == scope.bindings->end()) continue;   // optional, and the caller does not give it
    require(!is_graph(*bound->second), ErrorKind::unsupported, "attribute '", attribute.name, "' is a graph given to a function");
    result[attribute.name] = bound->second;
  }
  return result;
}

}  // namespace tenfold::onnx_import
