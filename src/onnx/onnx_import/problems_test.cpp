// Everything that is wrong with a model comes at once, in words and as data.
#include "onnx_import/model_for_tests.h"
#include "tenfold/model_error.h"

namespace tenfold::onnx_import {
namespace {

std::vector<ModelProblem> problems_of(const onnx::ModelProto& model) {
  try {
    import_model(model);
  } catch (const ModelError& error) {
    return error.problems();
  }
  ADD_FAILURE() << "no ModelError";
  return {};
}

TEST(Problems, AllOfThemAreListed) {
  auto model = small_model();
  auto& graph = *model.graph;
  add_input(graph, "bad", {"-7"});
  graph.initializer.push_back(floats("short", {3}, {1, 2}));
  add_node(graph, "Relu", {"bad"}, {"r"}, "reads_bad");
  add_node(graph, "Add", {"x", "short"}, {"a"}, "reads_short");
  add_int(add_node(graph, "Softmax", {"x"}, {"s"}, "soft"), "axis", 9);
  add_int(add_node(graph, "Relu", {"s"}, {"t"}, "sloped"), "slope", 1);
  add_node(graph, "NoSuch", {"t"}, {"u"}, "strange");
  add_node(graph, "Identity", {"ghost"}, {"v"}, "haunted");
  const std::vector<ModelProblem> all = problems_of(model);
  std::vector<std::string> found;
  for (const ModelProblem& p : all) found.push_back(cat(name(p.kind), " ", p.node, " ", p.op, " ", p.opset));
  EXPECT_EQ(found, (Names{"invalid_model   0", "invalid_model   0", "invalid_model soft Softmax 17", "invalid_model sloped Relu 17",
                          "unsupported strange NoSuch 17", "invalid_model haunted Identity 17"}));
  std::vector<std::int64_t> numbers;
  for (const ModelProblem& p : all) numbers.push_back(p.node_index);
  const auto first = static_cast<std::int64_t>(graph.node.size()) - 6;   // the small model's own come before
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{-1, -1, first + 2, first + 3, first + 4, first + 5}));
  EXPECT_NE(all.at(0).message.find("input 'bad'"), std::string::npos);
  EXPECT_NE(all.at(1).message.find("tensor 'short'"), std::string::npos);
  EXPECT_EQ(all.at(3).text(), "node 'sloped' (Relu, opset 17): it has no attribute 'slope' at opset 17");
  const Failure whole = failure(model);
  EXPECT_EQ(whole.kind, ErrorKind::invalid_model);
  EXPECT_EQ(whole.text.substr(0, 23), "the model has 6 faults:") << whole.text;
}

TEST(Problems, AreListedUpToAThousand) {
  for (const int count : {1000, 1001, 2500}) {
    auto model = small_model();
    for (int i = 0; i < count; ++i) add_node(*model.graph, "NoSuch", {"x"}, {cat("r", i)}, cat("n", i));
    const std::vector<ModelProblem> all = problems_of(model);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(std::min(count, 1001)));
    EXPECT_EQ(all[999].node, "n999");
    EXPECT_EQ(all[999].more, 0);
    EXPECT_EQ(all.back().more, std::max(0, count - 1000));
    const Failure whole = failure(model);
    EXPECT_EQ(whole.kind, ErrorKind::unsupported) << "also of those that are not listed";
    EXPECT_EQ(whole.text.substr(0, 27), cat(count, " nodes are not supported:\n").substr(0, 27));
    const std::string end = cat("\n  and ", count - 1000, " more");
    EXPECT_EQ(whole.text.ends_with(end), count > 1000) << whole.text.substr(whole.text.size() - 40);
  }
  auto model = small_model();
  for (int i = 0; i < 1001; ++i) add_node(*model.graph, "NoSuch", {"x"}, {cat("r", i)}, cat("n", i));
  add_int(add_node(*model.graph, "Softmax", {"x"}, {"s"}, "soft"), "axis", 9);
  EXPECT_EQ(failure(model).kind, ErrorKind::invalid_model) << "one that is not listed decides, too";
}

TEST(Problems, NodesWithoutNamesAreToldByTheirResults) {
  auto model = small_model();
  add_node(*model.graph, "NoSuch", {"x"}, {"left", "right"});
  const std::vector<ModelProblem> all = problems_of(model);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].outputs, (Names{"left", "right"}));
  EXPECT_EQ(all[0].text().substr(0, 48), "node '-> left' (NoSuch, opset 17): there is no o");
}

TEST(Problems, OfBodiesCarryTheirPlace) {
  auto model = small_model();
  add_input(*model.graph, "c", {}, DType::boolean);
  auto& node = add_node(*model.graph, "If", {"c"}, {"z"}, "choose");
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& body = add_attribute(node, branch, 5).g.edit();
    add_node(body, "NoSuch", {"x"}, {"r"}, "inner");
    add_output(body, "r");
  }
  const std::vector<ModelProblem> all = problems_of(model);
  ASSERT_EQ(all.size(), 2u);   // the first branch's fault hides nothing of the other
  EXPECT_EQ(all[0].node, "choose/then_branch/inner");
  EXPECT_EQ(all[1].node, "choose/else_branch/inner");
}

TEST(Problems, OfOneBranchHideNothingOfTheOther) {
  auto model = small_model();
  add_input(*model.graph, "c", {}, DType::boolean);
  auto& node = add_node(*model.graph, "If", {"c"}, {"z"}, "choose");
  add_output(add_attribute(node, "then_branch", 5).g.edit(), "nothing");
  auto& body = add_attribute(node, "else_branch", 5).g.edit();
  add_node(body, "NoSuch", {"x"}, {"r"}, "inner");
  add_output(body, "r");
  add_input(node.attribute[0].g.edit(), "more", {});
  node.attribute[0].g->output[0].name = "more";
  const std::vector<ModelProblem> all = problems_of(model);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].node, "choose/else_branch/inner");
  EXPECT_EQ(all[0].node_index, static_cast<std::int64_t>(model.graph->node.size()) - 1) << "of the If around it";
  EXPECT_NE(all[1].message.find("has more than 0 inputs"), std::string::npos) << all[1].message;
}

TEST(Problems, OfOutputsAreListedBesideThoseOfNodes) {
  auto model = small_model();
  add_node(*model.graph, "NoSuch", {"x"}, {"z"}, "strange");
  for (const char* name : {"z", "ghost", "y", "phantom"}) add_output(*model.graph, name);
  set_value(model.graph->output[0], "y", {}, DType::i64);
  std::vector<std::string> found;
  for (const ModelProblem& p : problems_of(model)) found.push_back(p.node.empty() ? p.message : p.node);
  EXPECT_EQ(found, (Names{"strange", "the output 'y' is declared as i64, but computed as f32",
                          "the output 'ghost' is not defined by any node", "two outputs are named 'y'",
                          "the output 'phantom' is not defined by any node"}));
  auto none = small_model();
  none.graph->output.clear();
  EXPECT_EQ(problems_of(none).at(0).message, "the graph has no outputs");
}

TEST(Problems, AnotherDomainThatHasTheOperatorIsNamed) {
  auto model = small_model();
  add_node(*model.graph, "QLinearAdd", {"x", "x"}, {"z"}, "sum");
  expect_failure(model, ErrorKind::unsupported, "there is no operator 'QLinearAdd'; the domain 'com.microsoft' has it");
}

TEST(Problems, TrainingIsCalledSo) {
  for (const char* domain : {"ai.onnx.preview.training", "ai.onnx.training"}) {
    auto model = small_model();
    add_node(*model.graph, "Sgd", {"x", "x"}, {"z"}, "step").domain = domain;
    model.opset_import.emplace_back().domain = domain;
    model.opset_import.back().version = 1;
    expect_failure(model, ErrorKind::unsupported, "is training that plans do not compute");
  }
}

TEST(Problems, TheContribDomainNeedsNoImport) {
  auto model = small_model();
  add_node(*model.graph, "FusedMatMul", {"w", "w"}, {"z"}, "product").domain = "com.microsoft";
  model.graph->initializer.push_back(floats("w", {2, 2}, {1, 2, 3, 4}));
  add_output(*model.graph, "z");
  EXPECT_EQ(run(import_model(model), {tensor_of({1, 2, 3}, {1, 3})}, 1), (std::vector<float>{7, 10, 15, 22}));
}

}  // namespace
}  // namespace tenfold::onnx_import
