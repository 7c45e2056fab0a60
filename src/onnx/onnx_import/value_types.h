// Declared types of values: TypeProto to ir::ValueType, with the model's named dimensions as symbols of the graph.
#pragma once

#include "onnx_import/messages.h"

#include <map>
#include <set>
#include <string>

#include "ir/graph.h"
#include "onnx_import/import.h"

namespace tenfold::onnx_import {

class ValueTypes {
 public:
  ValueTypes(ir::Graph& graph, const ImportOptions& options) : graph_(graph), options_(options) {}

  // Reads which names options.input_shapes fixes, before any type is made: "batch" fixed by one input holds for all.
  void fix_names(const onnx::GraphProto& graph);
  // The type of a graph input, fixed shapes applied. Unranked inputs need a fixed shape.
  ir::ValueType input(const onnx::ValueInfoProto& info);
  // A declared type whose unknown dims are symbols made from `stem`.
  ir::ValueType declared(const onnx::TypeProto& type, const std::string& stem);

 private:
  ir::ValueType held(const onnx::TypeProto& type, const std::string& stem);   // what sequences, optionals and maps hold, or one of them
  ir::TensorType tensor(const onnx::TypeProto::Tensor& type, const std::string& stem, const Shape* fixed);
  ir::Dim named(const std::string& name);
  ir::Graph& graph_;
  const ImportOptions& options_;
  std::map<std::string, std::int64_t> fixed_;   // value of a name that an input shape gives
  std::map<std::string, ir::Dim> symbols_;      // by the model's name
  std::set<std::string> taken_;                 // names of symbols
};

}  // namespace tenfold::onnx_import
