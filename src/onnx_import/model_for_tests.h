// Short ways to write ONNX models in tests.
#pragma once

#include <onnx_subset.pb.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "onnx_import/import.h"
#include "ops/interpret.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_import {

using Names = std::vector<std::string>;

inline onnx::ModelProto new_model(int opset = 17) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("test");
  return model;
}

// Dims: "3" is an extent, "batch" a name, "" nothing known.
inline void set_value(onnx::ValueInfoProto* info, const std::string& name, const Names& dims, DType type = DType::f32) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(ops::onnx_number(type)));
  tensor->mutable_shape();
  for (const std::string& dim : dims) {
    auto* added = tensor->mutable_shape()->add_dim();
    if (!dim.empty() && dim.find_first_not_of("-0123456789") == std::string::npos) added->set_dim_value(std::stoll(dim));
    else if (!dim.empty()) added->set_dim_param(dim);
  }
}
inline void add_input(onnx::GraphProto& graph, const std::string& name, const Names& dims, DType type = DType::f32) {
  set_value(graph.add_input(), name, dims, type);
}
inline void add_output(onnx::GraphProto& graph, const std::string& name) { graph.add_output()->set_name(name); }

template <class Owner>   // a graph or a function
onnx::NodeProto& add_node(Owner& owner, const std::string& op, const Names& inputs, const Names& outputs, const std::string& name = "") {
  onnx::NodeProto& node = *owner.add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const auto& input : inputs) node.add_input(input);
  for (const auto& output : outputs) node.add_output(output);
  return node;
}
inline onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const std::string& name, int type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}
inline void add_int(onnx::NodeProto& node, const std::string& name, std::int64_t value) { add_attribute(node, name, 2).set_i(value); }

inline onnx::TensorProto floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(1);
  for (auto extent : shape) tensor.add_dims(extent);
  for (float value : values) tensor.add_float_data(value);
  return tensor;
}

// x[batch,3] -> Identity -> y, with room for more.
inline onnx::ModelProto small_model() {
  onnx::ModelProto model = new_model();
  add_input(*model.mutable_graph(), "x", {"batch", "3"});
  add_node(*model.mutable_graph(), "Identity", {"x"}, {"y"}, "copy");
  add_output(*model.mutable_graph(), "y");
  return model;
}

inline ir::Graph import_model(const onnx::ModelProto& model, const ImportOptions& options = {}, const std::filesystem::path& base = {}) {
  const std::string bytes = model.SerializeAsString();
  return import_bytes(std::as_bytes(std::span(bytes)), options, base);
}

// The message and kind of the error that importing must end in.
struct Failure {
  ErrorKind kind;
  std::string text;
};
inline Failure failure(const onnx::ModelProto& model, const ImportOptions& options = {}, const std::filesystem::path& base = {}) {
  try {
    import_model(model, options, base);
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "the model was accepted";
  return {ErrorKind::internal, ""};
}
inline void expect_failure(const onnx::ModelProto& model, ErrorKind kind, const std::string& part, const ImportOptions& options = {},
                           const std::filesystem::path& base = {}) {
  const Failure found = failure(model, options, base);
  EXPECT_EQ(name(found.kind), name(kind)) << found.text;
  EXPECT_NE(found.text.find(part), std::string::npos) << "'" << part << "' is not in: " << found.text;
}

inline Tensor tensor_of(const std::vector<float>& values, Shape shape) {
  Tensor tensor(DType::f32, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}
inline std::vector<float> run(const ir::Graph& graph, const std::vector<ops::RuntimeValue>& inputs, std::size_t output = 0) {
  const auto results = ops::run_graph(graph, inputs);
  const auto& tensor = std::get<Tensor>(results.at(output));
  return {tensor.data<float>(), tensor.data<float>() + tensor.size()};
}

}  // namespace tenfold::onnx_import
