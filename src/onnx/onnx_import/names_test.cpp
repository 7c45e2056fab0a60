// The model's own names after import: of nodes without names, of functions, branches and bodies, and of what import removed.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "onnx_import/model_for_tests.h"

namespace tenfold::onnx_import {
namespace {

void add_reported(const ir::Graph& graph, std::multiset<std::string>& reported) {
  for (const auto& n : graph.nodes()) {
    for (const std::int32_t s : n->sources.all()) reported.insert(graph.model_names->nodes[static_cast<std::size_t>(s)].name);
    for (const auto& body : n->graphs) add_reported(*body, reported);
  }
}
std::multiset<std::string> reported(const ir::Graph& graph) {
  std::multiset<std::string> names;
  add_reported(graph, names);
  return names;
}
std::map<std::string, std::string> removed(const ir::Graph& graph) {
  std::map<std::string, std::string> names;
  for (const ir::Removed& r : graph.removed) names[graph.model_names->nodes[static_cast<std::size_t>(r.node)].name] = r.by;
  return names;
}
std::string tensors(const ir::Graph& graph, const ir::Value& v) {
  std::string names;
  for (const std::int32_t t : v.names) names += (names.empty() ? "" : " ") + graph.model_names->tensors[static_cast<std::size_t>(t)];
  return names;
}

TEST(ModelNames, OfNodesWithoutOneAndOfTwins) {
  onnx::ModelProto model = small_model();
  add_node(*model.graph, "Relu", {"y"}, {"a"});
  add_node(*model.graph, "Split", {"a"}, {"b", "c"});
  add_int(model.graph.edit().node.back(), "axis", 0);
  add_node(*model.graph, "Exp", {"b"}, {"d"}, "twin");
  add_node(*model.graph, "Neg", {"c"}, {"e"}, "twin");
  add_output(*model.graph, "d");
  add_output(*model.graph, "e");
  model.graph.edit().input[0].type.tensor_type->shape->dim[0].dim_value = 4;
  model.graph.edit().input[0].type.tensor_type->shape->dim[0].dim_param = {};
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(reported(graph), (std::multiset<std::string>{"copy", "Relu -> a", "Split -> b, c", "twin", "twin -> e"}));
  EXPECT_TRUE(removed(graph).empty());
  EXPECT_EQ(tensors(graph, *graph.inputs[0]), "x");
  EXPECT_EQ(tensors(graph, *graph.outputs[1]), "d");
}

TEST(ModelNames, OfWhatImportKnows) {
  onnx::ModelProto model = small_model();
  add_attribute(add_node(*model.graph, "Constant", {}, {"k"}, "number"), "value_float", 1).f = 2;
  add_node(*model.graph, "Mul", {"y", "k"}, {"z"}, "scale");
  add_output(*model.graph, "z");
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(reported(graph), (std::multiset<std::string>{"copy", "scale"}));
  EXPECT_EQ(removed(graph), (std::map<std::string, std::string>{{"number", "import"}}));
}

TEST(ModelNames, OfFunctions) {
  onnx::ModelProto model = new_model();
  model.opset_import.push_back({"local", 1});
  onnx::FunctionProto& function = model.functions.emplace_back();
  function.name = "Twice", function.domain = "local", function.opset_import.push_back({"", 17});
  function.input = {"a"}, function.output = {"r"};
  add_node(function, "Add", {"a", "a"}, {"r"}, "sum");
  add_input(*model.graph, "x", {"3"});
  add_node(*model.graph, "Twice", {"x"}, {"t"}, "first").domain = "local";
  add_node(*model.graph, "Twice", {"t"}, {"y"}, "second").domain = "local";
  add_output(*model.graph, "y");
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(reported(graph), (std::multiset<std::string>{"first/sum", "second/sum"}));
  EXPECT_EQ(removed(graph), (std::map<std::string, std::string>{{"first", "import"}, {"second", "import"}}));
  EXPECT_EQ(tensors(graph, *graph.outputs[0]), "y second/r");   // known by both
}

// A loop's body is imported again until its types settle: each node has one entry.
TEST(ModelNames, OfBodies) {
  onnx::ModelProto model = new_model();
  add_input(*model.graph, "n", {}, DType::i64);
  add_input(*model.graph, "go", {}, DType::boolean);
  add_input(*model.graph, "x", {"3"});
  onnx::NodeProto& loop = add_node(*model.graph, "Loop", {"n", "go", "x"}, {"y"}, "loop");
  onnx::GraphProto& body = add_attribute(loop, "body", 5).g.edit();
  add_input(body, "i", {}, DType::i64);
  add_input(body, "go_in", {}, DType::boolean);
  add_input(body, "v", {"3"});
  add_node(body, "Identity", {"go_in"}, {"go_out"}, "on");
  add_node(body, "Add", {"v", "x"}, {"v_out"}, "more");
  add_output(body, "go_out");
  add_output(body, "v_out");
  add_output(*model.graph, "y");
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(reported(graph), (std::multiset<std::string>{"loop", "loop/body/more", "loop/body/on"}));
  EXPECT_TRUE(removed(graph).empty());
  EXPECT_EQ(graph.model_names->nodes.size(), 3u);
}

}  // namespace
}  // namespace tenfold::onnx_import
