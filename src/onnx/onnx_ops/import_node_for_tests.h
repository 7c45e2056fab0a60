// One node of ONNX over constants, imported without a model around it, for tests.
#pragma once

#include <gtest/gtest.h>

#include "onnx_ops/table.h"
#include "ops/expect_case_for_tests.h"

namespace tenfold::onnx_ops {

struct Imported {
  const char *domain, *op;
  int opset;
  std::vector<int> outputs;   // those asked for
  const char *problem, *results;
  double tolerance;
};

// The node without a model around it.
class PlainNode final : public OnnxImport {
 public:
  using OnnxImport::OnnxImport;
  bool has_graph(std::string_view) const override { return false; }
  std::vector<std::unique_ptr<ir::Graph>> closed_bodies(const std::vector<std::string>&, const std::vector<std::vector<ir::ValueType>>&,
                                                        std::vector<ir::Value*>&) override {
    return {};
  }
  std::vector<ir::Value*> add_body(const std::string&, const std::vector<ir::Value*>&) override { return {}; }
};

inline std::vector<Tensor> results_of(const Imported& e) {
  const auto found = find(Registry::builtin(), e.domain, e.op, e.opset);
  require(found.has_value(), ErrorKind::unsupported, e.op, " is not known");
  const ops::Case c = ops::parse_case(OpDef{.name = e.op}, e.problem);
  Graph graph(Registry::builtin());
  PlainNode node(graph, e.op, e.op, e.opset);
  for (const ops::CaseOperand& o : c.operands) node.inputs.push_back(o.missing ? nullptr : graph.add_constant(o.data));
  node.output_names.resize(static_cast<std::size_t>(e.outputs.back()) + 1);
  for (int i : e.outputs) node.output_names[static_cast<std::size_t>(i)] = cat("y", i);
  node.attributes = c.attributes;
  check_attributes(*found, node.attributes);
  const std::vector<Value*> values = convert(node, *found);
  for (int i : e.outputs) graph.outputs.push_back(values.at(static_cast<std::size_t>(i)));
  std::vector<Tensor> results;
  for (const ops::RuntimeValue& v : ops::run_graph(graph, {})) results.push_back(std::get<Tensor>(v));
  return results;
}

}  // namespace tenfold::onnx_ops
