// What a conversion sees of its ONNX node: names, attributes, operands already in the graph.
#pragma once

#include <string>
#include <vector>

#include "base/check.h"
#include "ir/fault.h"
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {

class OnnxImport {
 public:
  OnnxImport(Graph& graph, std::string op, std::string name, int opset)
      : graph_(graph), op_(std::move(op)), name_(std::move(name)), opset_(opset) {}
  virtual ~OnnxImport() = default;

  Graph& graph() { return graph_; }
  const std::string& op() const { return op_; }
  const std::string& name() const { return name_; }
  int opset() const { return opset_; }
  std::vector<Value*> inputs;             // null where the model leaves an optional operand out
  std::vector<std::string> output_names;  // empty name: not wanted
  Attributes attributes;                  // all but graph attributes, as the model has them

  int outputs() const { return static_cast<int>(output_names.size()); }
  Value* in(int i) const { return i < static_cast<int>(inputs.size()) ? inputs[static_cast<std::size_t>(i)] : nullptr; }
  // Operand i, which the model has to have given.
  Value* given(int i) const {
    validate(in(i) != nullptr, "input ", i, " is missing");
    return in(i);
  }
  // A constant operand, or an error that says which one has to be constant.
  const Tensor& constant(int i, const char* what) const {
    supported(given(i)->is_constant(), what, " must be a constant");
    return in(i)->constant->tensor;
  }
  // Adds a node named after this ONNX node and returns its outputs.
  std::vector<Value*> add(std::string_view op, std::vector<Value*> operands, Attributes attributes, int outputs = 1) {
    return graph_.add(op, std::move(operands), std::move(attributes), outputs, name_)->outputs;
  }
  // Shorthand for a one-element or a list constant.
  Value* ints(const std::vector<std::int64_t>& values);
  Value* scalar(DType dtype, double value);
  // A graph attribute as a closed body: `formal` types are those of the body's own inputs; values it captures from outside
  // become further inputs, appended to `captures` (shared by several bodies of one node: pass the same vector).
  // The body's inputs are: own inputs, then one for each entry of captures.
  virtual bool has_graph(std::string_view attribute) const = 0;
  virtual std::vector<std::unique_ptr<Graph>> closed_bodies(const std::vector<std::string>& attributes,
                                                            const std::vector<std::vector<ValueType>>& formal,
                                                            std::vector<Value*>& captures) = 0;
  // The nodes of a graph attribute, added to this graph over these inputs; its results. What it captures it finds by name.
  virtual std::vector<Value*> add_body(const std::string& attribute, const std::vector<Value*>& inputs) = 0;

 private:
  Graph& graph_;
  std::string op_, name_;
  int opset_;
};

}  // namespace tenfold::onnx_ops
