// Short ways to write ONNX models in tests.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "base/check.h"
#include "onnx_import/import.h"
#include "onnx_import/write_messages_for_tests.h"
#include "ops/interpret.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_import {

using Names = std::vector<std::string>;

inline onnx::ModelProto new_model(int opset = 17) {
  onnx::ModelProto model;
  model.ir_version = 8;
  model.opset_import.push_back({"", opset});
  model.graph.edit().name = "test";
  return model;
}

// Dims: "3" is an extent, "batch" a name, "" nothing known.
inline void set_value(onnx::ValueInfoProto& info, const std::string& name, const Names& dims, DType type = DType::f32) {
  info.name = name;
  auto& tensor = info.type.tensor_type.emplace();
  tensor.elem_type = ops::onnx_number(type);
  auto& shape = tensor.shape.emplace();
  for (const std::string& dim : dims) {
    auto& added = shape.dim.emplace_back();
    if (!dim.empty() && dim.find_first_not_of("-0123456789") == std::string::npos) added.dim_value = std::stoll(dim);
    else added.dim_param = dim;
  }
}
inline void add_input(onnx::GraphProto& graph, const std::string& name, const Names& dims, DType type = DType::f32) {
  set_value(graph.input.emplace_back(), name, dims, type);
}
inline void add_output(onnx::GraphProto& graph, const std::string& name) { graph.output.emplace_back().name = name; }

template <class Owner>   // a graph or a function
onnx::NodeProto& add_node(Owner& owner, const std::string& op, const Names& inputs, const Names& outputs, const std::string& name = "") {
  onnx::NodeProto& node = owner.node.emplace_back();
  node.op_type = op, node.name = name, node.input = inputs, node.output = outputs;
  return node;
}
inline onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const std::string& name, int type) {
  onnx::AttributeProto& attribute = node.attribute.emplace_back();
  attribute.name = name, attribute.type = type;
  return attribute;
}
inline void add_int(onnx::NodeProto& node, const std::string& name, std::int64_t value) { add_attribute(node, name, 2).i = value; }

inline onnx::TensorProto floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  onnx::TensorProto tensor;
  tensor.name = name, tensor.data_type = 1, tensor.dims = shape, tensor.float_data = values;
  return tensor;
}
// Raw data lie outside of messages: these live as long as the test program.
inline Bytes kept(const std::string& bytes) {
  static std::deque<std::string> all;
  return std::as_bytes(std::span(all.emplace_back(bytes)));
}

// x[batch,3] -> Identity -> y, with room for more.
inline onnx::ModelProto small_model() {
  onnx::ModelProto model = new_model();
  add_input(*model.graph, "x", {"batch", "3"});
  add_node(*model.graph, "Identity", {"x"}, {"y"}, "copy");
  add_output(*model.graph, "y");
  return model;
}

inline ir::Graph import_model(const onnx::ModelProto& model, const ImportOptions& options = {}, const std::filesystem::path& folder = {}) {
  const std::string bytes = serialized(model);
  return import_bytes(std::as_bytes(std::span(bytes)), options, folder.empty() ? folder : folder / "model.onnx");
}

// The message and kind of the error that importing must end in.
struct Failure {
  ErrorKind kind;
  std::string text;
};
inline Failure failure(const onnx::ModelProto& model, const ImportOptions& options = {}, const std::filesystem::path& folder = {}) {
  try {
    import_model(model, options, folder);
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "the model was accepted";
  return {ErrorKind::internal, ""};
}
inline void expect_failure(const onnx::ModelProto& model, ErrorKind kind, const std::string& part, const ImportOptions& options = {},
                           const std::filesystem::path& folder = {}) {
  const Failure found = failure(model, options, folder);
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
