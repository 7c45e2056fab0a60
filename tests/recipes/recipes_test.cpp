// The recipes of CONTRIBUTING.md: an operator, what models write, a tactic and a pass, each one new file (ops/, onnx_ops/, tactics/,
// rules/) that nothing else names. CMake makes the four tables anew with these files among the tree's own, as it would if they lay there.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "ir/text.h"
#include "onnx_import/model_for_tests.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/pass.h"

namespace tenfold {
namespace onnx = onnx_import::onnx;
namespace {

ir::Graph parse(const std::string& text) { return ir::parse_graph(text, ir::Registry::builtin()); }

TEST(Recipes, AnOperatorIsOneFile) {
  const ir::Graph graph = parse("(x f32[3,2])\ny = ReverseRows(x)\nreturn y\n");
  const Tensor x = ops::random_tensor(DType::f32, {3, 2}, 1);
  const Tensor y = std::get<Tensor>(ops::run_graph(graph, {x}).at(0));
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 2; ++column) EXPECT_EQ(y.as_double(row * 2 + column), x.as_double((2 - row) * 2 + column));
}

// A model has both: the graph's operator under its own name, and one that stands for it and others.
TEST(Recipes, WhatModelsWriteIsOneFile) {
  onnx::ModelProto model = onnx_import::new_model();
  onnx_import::add_input(*model.graph, "x", {"2", "1"});
  onnx_import::add_node(*model.graph, "ReverseRows", {"x"}, {"t"});
  onnx::NodeProto& node = onnx_import::add_node(*model.graph, "AddReversed", {"t"}, {"y"});
  node.domain = "com.microsoft";
  onnx_import::add_attribute(node, "alpha", 1).f = 0.5f;
  onnx_import::add_output(*model.graph, "y");
  const ir::Graph graph = onnx_import::import_model(model);
  Tensor x(DType::f32, {2, 1});
  x.mutable_data<float>()[0] = 1, x.mutable_data<float>()[1] = -4;
  const Tensor y = std::get<Tensor>(ops::run_graph(graph, {x}).at(0));
  for (int row = 0; row < 2; ++row) EXPECT_EQ(y.as_double(row), -1.5);
}

TEST(Recipes, ATacticIsOneFile) {
  for (const char* type : {"f32[5,7]", "i64[3]", "f16[1,2,3]", "f32[0,4]"}) {
    const ir::Graph graph = parse(cat("(x ", type, ")\ny = ReverseRows(x)\nreturn y\n"));
    const Engine engine = builder::build_graph(graph, {.threads = 2});
    Shape shape;
    for (const ir::Dim& d : graph.inputs[0]->dims()) shape.push_back(d.constant());
    const bool chosen = engine.inspect().find("reverse_rows_copy") != std::string::npos;
    EXPECT_EQ(chosen, element_count(shape) > 0) << engine.inspect();   // where there is nothing to compute no tactic is asked
    const Tensor x = ops::random_tensor(graph.inputs[0]->dtype(), shape, 2);
    const Tensor expected = std::get<Tensor>(ops::run_graph(graph, {x}).at(0)), got = engine.create_context()->run({x}).at(0);
    ASSERT_EQ(got.shape(), expected.shape());
    for (std::int64_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got.as_double(i), expected.as_double(i)) << type << ", element " << i;
  }
}

TEST(Recipes, APassIsOneFile) {   // and a line in pipeline.cpp, the one list that is kept by hand
  ir::Graph graph = parse("(x f32[3,2])\na = ReverseRows(x)\nb = ReverseRows(a)\ny = Relu(b)\nreturn y\n");
  passes::run(graph, {passes::find_pass("remove_reversals")});
  ASSERT_EQ(graph.node_list().size(), 1u);
  EXPECT_EQ(graph.node_list()[0]->op(), "Relu");
}

}  // namespace
}  // namespace tenfold
