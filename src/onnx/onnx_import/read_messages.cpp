// Models: graphs, nodes, attributes and functions. The numbers are the standard's; those listed without action mean nothing here.
#include "onnx_import/read_messages.h"

#include "base/check.h"

namespace tenfold::onnx_import {
namespace {

constexpr std::size_t kMaxInitializers = 1'000'000;

template <class Tensors>
auto& one_more(Tensors& initializers) {
  require(initializers.size() < kMaxInitializers, ErrorKind::invalid_model, "a graph has more than ", kMaxInitializers, " initializers");
  return initializers.emplace_back();
}

void read_fields(Fields in, onnx::GraphProto& m);

void read_fields(Fields in, onnx::AttributeProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: m.name = in.name(); break;
    case 2: m.f = in.f32(); break;
    case 3: m.i = in.integer(); break;
    case 4: m.s = in.string(); break;
    case 5: read_fields(in.message("TensorProto"), m.t.edit()); break;
    case 6: read_fields(in.message("GraphProto"), m.g.edit()); break;
    case 7: in.append(m.floats); break;
    case 8: in.append(m.ints); break;
    case 9: m.strings.push_back(in.string()); break;
    case 10: read_fields(in.message("TensorProto"), m.tensors.emplace_back()); break;
    case 11: read_fields(in.message("GraphProto"), m.graphs.emplace_back()); break;
    case 13: break;   // doc_string
    case 14: read_fields(in.message("TypeProto"), m.tp.edit()); break;
    case 15: read_fields(in.message("TypeProto"), m.type_protos.emplace_back()); break;
    case 20: m.type = in.integer(); break;
    case 21: m.ref_attr_name = in.name(); break;
    case 22: read_fields(in.message("SparseTensorProto"), m.sparse_tensor.edit()); break;
    case 23: read_fields(in.message("SparseTensorProto"), m.sparse_tensors.emplace_back()); break;
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::NodeProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: m.input.push_back(in.name()); break;
    case 2: m.output.push_back(in.name()); break;
    case 3: m.name = in.name(); break;
    case 4: m.op_type = in.name(); break;
    case 5: read_fields(in.message("AttributeProto"), m.attribute.emplace_back()); break;
    case 6: case 9: case 10: break;   // doc_string, metadata_props, device_configurations
    case 7: m.domain = in.name(); break;
    case 8: m.overload = in.name(); break;
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::ValueInfoProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: m.name = in.name(); break;
    case 2: read_fields(in.message("TypeProto"), m.type); break;
    case 3: case 4: break;   // doc_string, metadata_props
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::GraphProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: read_fields(in.message("NodeProto"), m.node.emplace_back()); break;
    case 2: m.name = in.name(); break;
    case 5: read_fields(in.message("TensorProto"), one_more(m.initializer)); break;
    case 10: case 13: case 14: case 16: break;   // doc_string, value_info, quantization_annotation, metadata_props
    case 11: read_fields(in.message("ValueInfoProto"), m.input.emplace_back()); break;
    case 12: read_fields(in.message("ValueInfoProto"), m.output.emplace_back()); break;
    case 15: read_fields(in.message("SparseTensorProto"), one_more(m.sparse_initializer)); break;
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::OperatorSetIdProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: m.domain = in.name(); break;
    case 2: m.version = in.integer(); break;
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::FunctionProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: m.name = in.name(); break;
    case 2: case 3: case 8: case 12: case 14: break;   // since_version and status (once), doc_string, value_info, metadata_props
    case 4: m.input.push_back(in.name()); break;
    case 5: m.output.push_back(in.name()); break;
    case 6: m.attribute.push_back(in.name()); break;
    case 7: read_fields(in.message("NodeProto"), m.node.emplace_back()); break;
    case 9: read_fields(in.message("OperatorSetIdProto"), m.opset_import.emplace_back()); break;
    case 10: m.domain = in.name(); break;
    case 11: read_fields(in.message("AttributeProto"), m.attribute_proto.emplace_back()); break;
    case 13: m.overload = in.name(); break;
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::ModelProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: m.ir_version = in.integer(); break;
    case 2: m.producer_name = in.text(); break;
    case 3: m.producer_version = in.text(); break;
    case 4: case 5: case 6: case 14: break;   // domain, model_version, doc_string, metadata_props
    case 20: case 26: break;                  // training_info, configuration
    case 7: read_fields(in.message("GraphProto"), m.graph.edit()); break;
    case 8: read_fields(in.message("OperatorSetIdProto"), m.opset_import.emplace_back()); break;
    case 25: read_fields(in.message("FunctionProto"), m.functions.emplace_back()); break;
    default: in.unknown();
  }
}

}  // namespace

onnx::ModelProto read_model(Bytes bytes, std::vector<std::string>* unknown, std::size_t max_messages) {
  require(!bytes.empty(), ErrorKind::invalid_model, "is empty, an ONNX model was expected");
  Source source{.bytes = bytes, .what = "an ONNX model", .max_messages = max_messages};
  onnx::ModelProto model;
  read_fields(Fields(source, "ModelProto"), model);
  if (unknown) *unknown = std::move(source.unknown);
  return model;
}

}  // namespace tenfold::onnx_import
