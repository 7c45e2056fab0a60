// Model-local functions and the bodies of If: inlining, attribute references, captures, recursion.
#include "onnx_import/model_for_tests.h"

namespace tenfold::onnx_import {
namespace {

// A function of domain "local" with one opset import and the given inputs and outputs.
onnx::FunctionProto& add_function(onnx::ModelProto& model, const std::string& name, const Names& inputs, const Names& outputs) {
  onnx::FunctionProto& function = model.functions.emplace_back();
  function.name = name;
  function.domain = "local";
  function.opset_import.emplace_back().version = 17;
  for (const auto& input : inputs) function.input.push_back(input);
  for (const auto& output : outputs) function.output.push_back(output);
  return function;
}

onnx::NodeProto& call(onnx::ModelProto& model, const std::string& name, const Names& inputs, const Names& outputs) {
  onnx::NodeProto& node = add_node(*model.graph, name, inputs, outputs, "call_" + outputs.at(0));
  node.domain = "local";
  return node;
}

onnx::ModelProto model_of_x(const Names& outputs) {
  auto model = new_model();
  model.opset_import.emplace_back().domain = "local";
  model.opset_import[1].version = 1;
  add_input(*model.graph, "x", {"2", "2"});
  for (const auto& output : outputs) add_output(*model.graph, output);
  return model;
}

const Tensor& ramp() {
  static const Tensor tensor = tensor_of({1, 2, 3, 4}, {2, 2});
  return tensor;
}

TEST(Functions, AreInlinedWithTheirAttributes) {
  auto model = model_of_x({"y", "z"});
  auto& join = add_function(model, "Join", {"a", "b"}, {"c"});
  join.attribute.push_back("axis");
  auto& node = add_node(join, "Concat", {"a", "b"}, {"c"}, "inner");
  add_attribute(node, "axis", 2).ref_attr_name = "axis";
  add_int(call(model, "Join", {"x", "x"}, {"y"}), "axis", 0);
  add_int(call(model, "Join", {"x", "x"}, {"z"}), "axis", 1);
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(ir::text(graph.outputs[0]->type), "f32[4,2]");
  EXPECT_EQ(ir::text(graph.outputs[1]->type), "f32[2,4]");
  EXPECT_EQ(graph.outputs[0]->name, "y");
  EXPECT_EQ(graph.nodes().front()->name, "call_y/inner");
  EXPECT_EQ(run(graph, {ramp()}, 1), (std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(Functions, HaveDefaultsAndCallEachOther) {
  auto model = model_of_x({"y"});
  auto& inner = add_function(model, "Inner", {"a"}, {"r"});
  auto* axis = &inner.attribute_proto.emplace_back();
  axis->name = "axis", axis->type = 2, axis->i = 1;
  add_attribute(add_node(inner, "Concat", {"a", "a"}, {"r"}), "axis", 2).ref_attr_name = "axis";
  auto& outer = add_function(model, "Outer", {"a", "unused"}, {"r"});
  outer.opset_import.emplace_back().domain = "local";
  outer.opset_import[1].version = 1;
  add_node(outer, "Inner", {"a"}, {"t"}).domain = "local";
  add_node(outer, "Identity", {"t"}, {"r"});
  call(model, "Outer", {"x"}, {"y"});
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(ir::text(graph.outputs[0]->type), "f32[2,4]");
}

TEST(Functions, MayReturnTheirInput) {
  auto model = model_of_x({"y"});
  add_function(model, "Nothing", {"a"}, {"a"});
  call(model, "Nothing", {"x"}, {"y"});
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(graph.outputs[0]->name, "y");
  EXPECT_EQ(graph.inputs[0]->name, "x");
}

TEST(Functions, AreUsedTwiceWithLargeConstants) {
  auto model = model_of_x({"y", "z"});
  auto& function = add_function(model, "Weight", {}, {"w"});
  auto& value = add_attribute(add_node(function, "Constant", {}, {"w"}), "value", 4).t.edit();
  value = floats("", {1000}, {});
  value.raw_data = kept(std::string(4000, '\0'));
  call(model, "Weight", {}, {"y"});
  call(model, "Weight", {}, {"z"});
  EXPECT_EQ(run(import_model(model), {ramp()}, 1).size(), 1000u);
}

TEST(Functions, MustNotCallThemselves) {
  auto model = model_of_x({"y"});
  for (const auto& [name, next] : {std::pair{"Ping", "Pong"}, std::pair{"Pong", "Ping"}}) {
    auto& function = add_function(model, name, {"a"}, {"r"});
    add_node(function, next, {"a"}, {"r"}).domain = "local";
  }
  call(model, "Ping", {"x"}, {"y"});
  expect_failure(model, ErrorKind::invalid_model, "the function 'Ping' calls itself");
}

TEST(Functions, CannotMultiplyWithoutBound) {
  auto model = model_of_x({"y"});
  for (int level = 0; level < 40; ++level) {   // 2^40 nodes if nothing stops it
    auto& function = add_function(model, cat("F", level), {"a"}, {"r"});
    for (int twice = 0; twice < 2; ++twice) {
      auto& node = add_node(function, level == 39 ? "Identity" : cat("F", level + 1), {twice ? "t" : "a"}, {twice ? "r" : "t"});
      if (level != 39) node.domain = "local";
    }
  }
  call(model, "F0", {"x"}, {"y"});
  expect_failure(model, ErrorKind::invalid_model, "may have no more than 1000", {.max_nodes = 1000});
}

TEST(Functions, AreCheckedAtTheirCall) {
  auto model = model_of_x({"y"});
  add_node(add_function(model, "F", {"a"}, {"r"}), "Identity", {"a"}, {"r"});
  auto& node = call(model, "F", {"x", "x"}, {"y"});
  expect_failure(model, ErrorKind::invalid_model, "takes 1 inputs, 2 are given");
  node.input.pop_back();
  node.output.push_back("more");
  expect_failure(model, ErrorKind::invalid_model, "has 1 outputs, 2 are wanted");
  node.output.pop_back();
  model.functions[0].output[0] = "ghost";
  expect_failure(model, ErrorKind::invalid_model, "does not compute its output 'ghost'");
  model.functions.push_back(model.functions[0]);
  expect_failure(model, ErrorKind::invalid_model, "defined twice");
}

// y = c ? Concat(x, x) : w, all captured.
onnx::ModelProto if_model() {
  auto model = model_of_x({"y"});
  auto& graph = *model.graph;
  add_input(graph, "c", {}, DType::boolean);
  graph.initializer.emplace_back() = floats("w", {2, 2}, {9, 8, 7, 6});
  auto& node = add_node(graph, "If", {"c"}, {"y"}, "choose");
  auto& yes = add_attribute(node, "then_branch", 5).g.edit();
  add_int(add_node(yes, "Concat", {"x", "x"}, {"r"}, "join"), "axis", 0);
  add_output(yes, "r");
  auto& no = add_attribute(node, "else_branch", 5).g.edit();
  add_output(no, "w");
  return model;
}

TEST(Bodies, CapturesBecomeInputsAndConstantsAreShared) {
  const ir::Graph graph = import_model(if_model());
  const ir::Node* node = graph.outputs[0]->producer;
  ASSERT_EQ(node->op(), "If");
  ASSERT_EQ(node->inputs.size(), 2u);
  EXPECT_EQ(node->inputs[1]->name, "x");
  for (const auto& body : node->graphs) EXPECT_EQ(body->inputs.size(), 1u);
  const auto choose = [&](bool condition) {
    Tensor c(DType::boolean, {});
    c.mutable_data<bool>()[0] = condition;
    return run(graph, {ramp(), c});
  };
  EXPECT_EQ(choose(true), (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(choose(false), (std::vector<float>{9, 8, 7, 6}));
}

TEST(Bodies, AKnownConditionLeavesOnlyTheBranchTaken) {
  for (const bool taken : {true, false}) {
    auto model = if_model();
    auto& graph = *model.graph;
    graph.input.pop_back();
    auto& condition = graph.initializer.emplace_back();
    condition.name = "c", condition.data_type = 9, condition.int32_data.push_back(taken);
    const ir::Graph result = import_model(model);
    EXPECT_EQ(result.outputs[0]->producer->op(), taken ? "Concat" : "Identity");
    EXPECT_EQ(result.outputs[0]->name, "y");
    EXPECT_EQ(run(result, {ramp()}).size(), taken ? 8u : 4u);
  }
}

TEST(Bodies, NestedCapturesPassThrough) {
  auto model = if_model();
  auto& node = model.graph->node[0];
  const onnx::GraphProto inner = *node.attribute[0].g;
  auto& yes = *node.attribute[0].g;
  yes.node.clear();
  auto& nested = add_node(yes, "If", {"c"}, {"r"}, "nested");
  add_attribute(nested, "then_branch", 5).g.edit() = inner;
  add_attribute(nested, "else_branch", 5).g.edit() = inner;
  const ir::Graph graph = import_model(model);
  Tensor c(DType::boolean, {});
  c.mutable_data<bool>()[0] = true;
  EXPECT_EQ(run(graph, {ramp(), c}).size(), 8u);
}

TEST(Bodies, ErrorsNameTheBody) {
  auto model = if_model();
  auto& yes = *model.graph->node[0].attribute[0].g;
  yes.node[0].input[0] = "ghost";
  expect_failure(model, ErrorKind::invalid_model, "its body 'then_branch' uses 'ghost', which nothing defines");
  yes.node[0].input[0] = "x";
  yes.node[0].op_type = "Unheard";
  const Failure found = failure(model);
  EXPECT_EQ(found.kind, ErrorKind::unsupported);
  EXPECT_NE(found.text.find("1 node is not supported:\n  node 'choose/then_branch/join' (Unheard"), std::string::npos) << found.text;
}

onnx::GraphProto& branch_of(onnx::ModelProto& model, int attribute) {
  return *model.graph->node[0].attribute[static_cast<std::size_t>(attribute)].g;
}

// x is a matrix: joining along axis 5 is impossible for it, but not for every tensor.
TEST(Bodies, ABranchThatContradictsTheShapesFailsWhenItIsTaken) {
  auto model = if_model();
  branch_of(model, 0).node[0].attribute[0].i = 5;
  std::string warned;
  const ir::Graph graph = import_model(model, {.log = Log([&](Severity, std::string_view text) { warned += text; })});
  EXPECT_NE(warned.find("choose/then_branch/' cannot run with these shapes, and fails if it is taken: importing node "
                        "'choose/then_branch/join' (Concat"), std::string::npos) << warned;
  Tensor c(DType::boolean, {});
  c.mutable_data<bool>()[0] = false;
  EXPECT_EQ(run(graph, {ramp(), c}), (std::vector<float>{9, 8, 7, 6}));
  c.mutable_data<bool>()[0] = true;
  EXPECT_THROW(run(graph, {ramp(), c}), Error);
}

// A branch in it whose condition is known is a part of it, and fails as it does: silero's detectors for two rates in one model have that.
TEST(Bodies, ABranchFailsWithWhatIsChosenInIt) {
  auto model = if_model();
  auto& yes = branch_of(model, 0);
  const onnx::GraphProto inner = yes;
  yes.node.clear();
  auto& condition = yes.initializer.emplace_back();
  condition.name = "always", condition.data_type = 9, condition.int32_data.push_back(1);
  auto& nested = add_node(yes, "If", {"always"}, {"r"}, "nested");
  add_attribute(nested, "then_branch", 5).g.edit() = inner;
  add_attribute(nested, "else_branch", 5).g.edit() = inner;
  nested.attribute[0].g.edit().node[0].attribute[0].i = 5;   // along this axis x cannot be joined
  const ir::Graph graph = import_model(model);
  Tensor c(DType::boolean, {});
  c.mutable_data<bool>()[0] = false;
  EXPECT_EQ(run(graph, {ramp(), c}), (std::vector<float>{9, 8, 7, 6}));
  c.mutable_data<bool>()[0] = true;
  EXPECT_THROW(run(graph, {ramp(), c}), Error);
}

// What no shapes would mend is refused in any branch, also behind a node that contradicts the shapes.
TEST(Bodies, FaultsOfABranchAreRefused) {
  for (const bool behind : {false, true}) {
    const auto refuse = [&](const std::string& part, ErrorKind kind, const std::function<void(onnx::GraphProto&)>& change) {
      auto model = if_model();
      auto& yes = branch_of(model, 0);
      if (behind) yes.node[0].attribute[0].i = 5;
      add_node(yes, "Relu", {"r"}, {"s"}, "next");
      yes.output[0].name = "s";
      change(yes);
      expect_failure(model, kind, part);
    };
    refuse("'choose/then_branch/next' (Frobnicate", ErrorKind::unsupported,
           [](auto& yes) { yes.node[1].op_type = "Frobnicate"; });
    refuse("it has no attribute 'slope'", ErrorKind::invalid_model, [](auto& yes) { add_int(yes.node[1], "slope", 1); });
    refuse("uses 'ghost', which nothing defines", ErrorKind::invalid_model, [](auto& yes) { yes.node[1].input[0] = "ghost"; });
    refuse("depends on its own result", ErrorKind::invalid_model, [](auto& yes) { yes.node[1].input[0] = "s"; });
    refuse("uses 'ghost', which nothing defines", ErrorKind::invalid_model, [](auto& yes) { yes.output[0].name = "ghost"; });
  }
  auto model = if_model();
  branch_of(model, 0).node[0].attribute[0].type = 3;   // a string
  branch_of(model, 0).node[0].attribute[0].i.reset();
  branch_of(model, 0).node[0].attribute[0].s = "rows";
  expect_failure(model, ErrorKind::invalid_model, "attribute 'axis' is");
  model = if_model();
  branch_of(model, 0).node[0].attribute[0].i = 5;
  auto& no = branch_of(model, 1);
  add_int(add_node(no, "Concat", {"x", "x"}, {"w2"}, "join"), "axis", 7);
  no.output[0].name = "w2";
  expect_failure(model, ErrorKind::invalid_model, "axis 7");   // neither branch can run
}

TEST(Bodies, DepthIsBounded) {
  auto model = model_of_x({"y"});
  add_input(*model.graph, "c", {}, DType::boolean);
  onnx::GraphProto body;
  add_node(body, "Identity", {"x"}, {"y"});
  add_output(body, "y");
  for (int level = 0; level < 40; ++level) {
    onnx::GraphProto outer;
    auto& node = add_node(outer, "If", {"c"}, {"y"});
    add_attribute(node, "then_branch", 5).g.edit() = body;
    add_node(add_attribute(node, "else_branch", 5).g.edit(), "Identity", {"x"}, {"y"});
    add_output(*node.attribute[1].g, "y");
    add_output(outer, "y");
    body = outer;
  }
  model.graph->node = body.node;
  expect_failure(model, ErrorKind::invalid_model, "");
}

}  // namespace
}  // namespace tenfold::onnx_import
