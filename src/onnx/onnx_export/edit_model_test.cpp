// Edits of model files: what they change, and that all else stays byte by byte.
#include "onnx_export/edit_model.h"

#include <gtest/gtest.h>

#include <random>

#include "onnx_export/raise_opset.h"
#include "onnx_import/model_for_tests.h"
#include "onnx_import/read_messages.h"

namespace tenfold::onnx_export {
namespace {

using onnx_import::Writer;
using onnx_import::add_attribute;
using onnx_import::add_input;
using onnx_import::add_node;
using onnx_import::add_output;
using onnx_import::floats;
using onnx_import::new_model;

Rope::Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string edited(const std::string& model, const Edits& edits, DataFile* aside = nullptr) {
  return edit_model(bytes_of(model), edits, aside).flat();
}

// x -> a -> b -> y, with the weight w.
onnx::ModelProto chain(int opset = 17) {
  onnx::ModelProto model = new_model(opset);
  add_input(*model.graph, "x", {"2", "2"});
  add_node(*model.graph, "MatMul", {"x", "w"}, {"a"}, "first");
  add_node(*model.graph, "Relu", {"a"}, {"b"}, "second");
  add_node(*model.graph, "MatMul", {"b", "w"}, {"y"}, "third");
  add_output(*model.graph, "y");
  model.graph->initializer.push_back(floats("w", {2, 2}, {1, 2, 3, 4}));
  return model;
}

std::vector<std::string> names(const onnx::ModelProto& model) {
  std::vector<std::string> list;
  for (const auto& node : model.graph->node) list.push_back(node.name);
  return list;
}

Edits some_edits() {
  Edits edits;
  edits.before[2] = {{"QuantizeLinear", "q", {"b", "s", "z"}, {"bq"}}, {"DequantizeLinear", "d", {"bq", "s", "z"}, {"bd"}, {{"axis", 0}}}};
  edits.inputs[2][0] = "bd";
  edits.initializers = {{"s", onnx_import::tensor_of({0.5f}, {})}, {"z", Tensor(DType::i8, {})}};
  return edits;
}

TEST(EditModel, NothingToDoChangesNoByte) {
  const std::string model = serialized(chain());
  EXPECT_EQ(edited(model, {}), model);
}

// A Loop in a branch of an If.
TEST(EditModel, BodiesHaveEditsOfTheirOwn) {
  onnx::ModelProto message = chain();
  onnx::NodeProto& branch = add_node(*message.graph, "If", {"c"}, {"v"}, "if");
  onnx::GraphProto& then = add_attribute(branch, "then_branch", 5).g.edit();
  add_node(then, "Neg", {"y"}, {"n"}, "neg");
  onnx::NodeProto& loop = add_node(then, "Loop", {"m", "", "n"}, {"l"}, "loop");
  onnx::GraphProto& round = add_attribute(loop, "body", 5).g.edit();
  round.initializer.push_back(floats("k", {1}, {3}));
  add_node(round, "Relu", {"n"}, {"r"}, "kept"), add_node(round, "Abs", {"r"}, {"s"}, "gone");
  add_node(round, "Add", {"s", "k"}, {"t"}, "last");
  add_attribute(branch, "else_branch", 5).g.edit();
  const std::string text = serialized(message);
  Edits edits;
  GraphEdits& in_then = edits.bodies[3]["then_branch"];
  GraphEdits& in_round = in_then.bodies[1]["body"];
  EXPECT_EQ(edited(text, edits), text);
  in_then.before[1] = {{"Exp", "e", {"n"}, {"en"}}}, in_then.inputs[1][2] = "en";
  in_round.before[1] = {{"Sign", "g", {"r"}, {"s"}}}, in_round.left_out_nodes = {1};
  in_round.forms[2] = {.op = "Sub", .inputs = {"k", "s"}};
  const onnx::ModelProto model = onnx_import::read_model(bytes_of(edited(text, edits)));
  EXPECT_EQ(names(model), (std::vector<std::string>{"first", "second", "third", "if"}));
  const onnx::GraphProto& then_now = *model.graph->node[3].attribute.at(0).g;
  ASSERT_EQ(then_now.node.size(), 3u);
  EXPECT_EQ(then_now.node[1].op_type, "Exp");
  EXPECT_EQ(then_now.node[2].input, (std::vector<std::string>{"m", "", "en"}));
  const onnx::GraphProto& round_now = *then_now.node[2].attribute.at(0).g;
  ASSERT_EQ(round_now.node.size(), 3u);
  EXPECT_EQ(round_now.initializer.size(), 1u);
  EXPECT_EQ(round_now.node[0].name, "kept");
  EXPECT_EQ(round_now.node[1].op_type, "Sign");
  EXPECT_EQ(round_now.node[2].op_type, "Sub");
  EXPECT_EQ(round_now.node[2].input, (std::vector<std::string>{"k", "s"}));
}

TEST(EditModel, NodesComeInFrontOfOthersAndOperandsAreRenamed) {
  const std::string text = edited(serialized(chain()), some_edits());
  const onnx::ModelProto model = onnx_import::read_model(bytes_of(text));
  EXPECT_EQ(names(model), (std::vector<std::string>{"first", "second", "q", "d", "third"}));
  EXPECT_EQ(model.graph->node[4].input, (std::vector<std::string>{"bd", "w"}));
  EXPECT_EQ(model.graph->node[3].attribute.at(0).i, 0);
  ASSERT_EQ(model.graph->initializer.size(), 3u);
  EXPECT_EQ(model.graph->initializer[1].name, "s");
  EXPECT_EQ(model.graph->initializer[2].data_type, 3);   // INT8
  EXPECT_EQ(model.graph->input.size(), 1u);
}

TEST(EditModel, WhatNobodyKnowsIsKeptWhereItStands) {
  onnx::ModelProto message = chain();
  const std::string unknown = Writer().bytes(900, "of another time").varint(901, 7).f32(902, 1.5f).text();
  // In the model, in its graph and in the node that is changed; and the third tag is longer than it need be.
  const std::string first = serialized(message.graph->node[0]), third = serialized(message.graph->node[2]) + unknown;
  const std::string long_tag("\x8a\x80\x00\x03own", 7);   // field 1, padded
  const std::string graph = Writer().bytes(1, first).text() + unknown + Writer().bytes(1, third + long_tag).text();
  const std::string model = unknown + Writer().varint(1, 8).bytes(7, graph).text() + unknown;
  Edits edits;
  edits.inputs[1][0] = "new";
  const std::string changed = Writer().bytes(1, "new").text() + third.substr(3) + long_tag;
  const std::string expected = Writer().bytes(1, first).text() + unknown + Writer().bytes(1, changed).text();
  EXPECT_EQ(edited(model, edits), unknown + Writer().varint(1, 8).bytes(7, expected).text() + unknown);
}

TEST(EditModel, AGraphInTwoPartsHasOneListOfNodes) {
  onnx::ModelProto message = chain();
  const std::string head = Writer().varint(1, 8).text();
  const auto part = [&](int node) { return Writer().bytes(1, serialized(message.graph->node[static_cast<std::size_t>(node)])).text(); };
  const std::string model = head + Writer().bytes(7, part(0) + part(1)).bytes(7, part(2)).text();
  const std::string text = edited(model, some_edits());
  const onnx::ModelProto read = onnx_import::read_model(bytes_of(text));
  EXPECT_EQ(names(read), (std::vector<std::string>{"first", "second", "q", "d", "third"}));
  EXPECT_EQ(read.graph->initializer.size(), 2u);
}

TEST(EditModel, OldModelsListInitializersAsInputs) {
  onnx::ModelProto message = chain();
  message.ir_version = 3;
  add_input(*message.graph, "w", {"2", "2"});
  Edits edits = some_edits();
  edits.left_out = {"w"};
  const std::string text = edited(serialized(message), edits);
  const onnx::ModelProto model = onnx_import::read_model(bytes_of(text));
  ASSERT_EQ(model.graph->input.size(), 3u);
  EXPECT_EQ(model.graph->input[1].name, "s");
  EXPECT_EQ(model.graph->input[2].type.tensor_type->elem_type, 3);
  EXPECT_EQ(model.graph->initializer.size(), 2u);
}

TEST(EditModel, LargeTensorsMayLieAside) {
  Edits edits = some_edits();
  edits.initializers.emplace_back("large", Tensor(DType::i8, {64, 64}));
  edits.initializers.emplace_back("larger", Tensor(DType::i8, {65, 64}));
  DataFile aside{.name = "m.data"};
  const std::string text = edited(serialized(chain()), edits, &aside);
  const onnx::ModelProto model = onnx_import::read_model(bytes_of(text));
  EXPECT_EQ(model.graph->initializer[1].data_location, 0);
  const onnx::TensorProto& larger = model.graph->initializer.back();
  EXPECT_EQ(larger.data_location, 1);
  EXPECT_FALSE(larger.raw_data.has_value());
  EXPECT_EQ(larger.external_data.at(0).value, "m.data");
  EXPECT_EQ(larger.external_data.at(1).value, "4096");
  EXPECT_EQ(aside.bytes.size(), 4096u + 65 * 64);
}

TEST(EditModel, TheOpsetIsRaisedInFunctionsToo) {
  onnx::ModelProto message = chain(11);
  onnx::FunctionProto& f = message.functions.emplace_back();
  f.name = "f", f.domain = "own", f.opset_import = {{"", 11}, {"own", 1}};
  Edits edits;
  edits.opset = 13;
  const std::string text = edited(serialized(message), edits);
  const onnx::ModelProto model = onnx_import::read_model(bytes_of(text));
  EXPECT_EQ(onnx_opset(model), 13);
  EXPECT_EQ(model.functions[0].opset_import[0].version, 13);
  EXPECT_EQ(model.functions[0].opset_import[1].version, 1);
  edits.opset = 9;
  EXPECT_EQ(edited(text, edits), text);   // never lowered
}

TEST(RaiseOpset, NodesOfOneFormMayStay) {
  const ir::Registry& registry = ir::Registry::builtin();
  onnx::ModelProto model = chain(9);
  EXPECT_TRUE(nodes_in_the_way(model, 13, registry).empty());
  onnx::NodeProto& squeeze = add_node(*model.graph, "Squeeze", {"y"}, {"z"}, "s");   // its axes become an operand
  add_attribute(squeeze, "axes", 7).ints = {0};
  add_node(*model.graph, "Upsample", {"y"}, {"u"});
  onnx::NodeProto& branch = add_node(*model.graph, "If", {"c"}, {"v"}, "i");
  onnx::GraphProto& body = add_attribute(branch, "then_branch", 5).g.edit();
  add_node(body, "Softmax", {"y"}, {"t"}, "inner");
  add_attribute(add_node(body, "Squeeze", {"y"}, {"q"}, "in_a_body"), "axes", 7).ints = {0};
  add_attribute(branch, "else_branch", 5).g.edit();
  EXPECT_EQ(nodes_in_the_way(model, 13, registry),
            (std::vector<std::string>{"node '-> u' (Upsample)", "node 'inner' (Softmax)"}));
  Edits edits;
  write_raised(
      model, 13, [](const std::string& stem) { return stem; }, edits);
  ASSERT_EQ(edits.before.size(), 1u);
  const NewNode& raised = edits.before.begin()->second.at(0);
  EXPECT_EQ(raised.inputs, (std::vector<std::string>{"y", "z_axes"}));
  EXPECT_EQ(edits.initializers.at(0).second.as_int(0), 0);
  EXPECT_EQ(edits.left_out_nodes.size(), 1u);
  const GraphEdits& inner = edits.bodies.at(model.graph->node.size() - 1).at("then_branch");
  EXPECT_EQ(inner.left_out_nodes, std::set<std::size_t>{1});
  EXPECT_EQ(inner.before.at(1).at(0).inputs, (std::vector<std::string>{"y", "q_axes"}));
  model.opset_import[0].version = 13;
  EXPECT_TRUE(nodes_in_the_way(model, 13, registry).empty());
}

// Operators whose form changes between two versions, and nodes of them that mean the same before and after (onnx.defs).
TEST(RaiseOpset, NodesStayWhereTheChangeIsNoneOfTheirs) {
  const ir::Registry& registry = ir::Registry::builtin();
  onnx::ModelProto model = chain(17);
  add_node(*model.graph, "Equal", {"y", "y"}, {"e"}, "equal");
  add_node(*model.graph, "Split", {"y", "sizes"}, {"s", "t"}, "split");
  add_node(*model.graph, "GridSample", {"y", "grid"}, {"g"}, "grid");
  onnx::NodeProto& branch = add_node(*model.graph, "If", {"c"}, {"v"}, "i");
  onnx::GraphProto& body = add_attribute(branch, "then_branch", 5).g.edit();
  add_node(body, "ReduceMean", {"y"}, {"m"}, "of_all"), add_node(body, "Equal", {"y", "y"}, {"q"}, "in_a_body");
  add_attribute(branch, "else_branch", 5).g.edit();
  EXPECT_TRUE(nodes_in_the_way(model, 21, registry).empty());
  add_node(body, "Split", {"y"}, {"u", "w"}, "sizes_by_outputs");
  add_attribute(add_node(body, "ReduceMean", {"y"}, {"m"}, "of_some"), "axes", 7).ints = {0};
  add_attribute(add_node(body, "GridSample", {"y", "grid"}, {"h"}, "cubic"), "mode", 3).s = "bicubic";
  add_node(body, "GroupNormalization", {"y", "a", "b"}, {"n"}, "norm");
  onnx::FunctionProto& function = model.functions.emplace_back();   // where nothing is written anew
  function.name = "f", function.opset_import = {{"", 17}}, function.node = body.node;
  EXPECT_EQ(nodes_in_the_way(model, 21, registry),
            (std::vector<std::string>{"node 'norm' (GroupNormalization)", "node 'f/sizes_by_outputs' (Split)",
                                      "node 'f/of_some' (ReduceMean)", "node 'f/cubic' (GridSample)",
                                      "node 'f/norm' (GroupNormalization)"}));
  EXPECT_EQ(nodes_in_the_way(model, 18, registry),   // where GroupNormalization came: at 17 it is somebody else's
            (std::vector<std::string>{"node 'norm' (GroupNormalization)", "node 'f/sizes_by_outputs' (Split)",
                                      "node 'f/of_some' (ReduceMean)", "node 'f/norm' (GroupNormalization)"}));
  onnx::ModelProto groups = chain(18);
  add_attribute(add_node(*groups.graph, "GroupNormalization", {"y", "a", "b"}, {"n"}, "norm"), "num_groups", 2).i = 1;
  EXPECT_TRUE(nodes_in_the_way(groups, 20, registry).empty());
  EXPECT_EQ(nodes_in_the_way(groups, 21, registry),   // scale and bias by channel, no more by group
            (std::vector<std::string>{"node 'norm' (GroupNormalization)"}));
}

// In the model's own graph they are written anew.
TEST(RaiseOpset, NodesAreWrittenInTheNewForm) {
  const ir::Registry& registry = ir::Registry::builtin();
  onnx::ModelProto model = chain(11);
  add_node(*model.graph, "BatchNormalization", {"y", "s", "b", "m", "v"}, {"n"}, "norm");
  add_attribute(add_node(*model.graph, "Dropout", {"y"}, {"d"}, "drop"), "ratio", 1).f = 0.5f;
  EXPECT_TRUE(nodes_in_the_way(model, 21, registry).empty());
  model.opset_import[0].version = 17;
  add_attribute(add_node(*model.graph, "Split", {"y"}, {"a", "b", "c"}, "split"), "axis", 2).i = 1;
  add_attribute(add_node(*model.graph, "GridSample", {"y", "grid"}, {"g"}, "grid"), "mode", 3).s = "bilinear";
  model.graph->node.erase(model.graph->node.end() - 3);  // at opset 17 Dropout has no ratio
  EXPECT_TRUE(nodes_in_the_way(model, 21, registry).empty());
  Edits edits;
  write_raised(
      model, 21, [](const std::string& stem) { return stem; }, edits);
  ASSERT_EQ(edits.before.size(), 2u);
  const NewNode &split = edits.before.begin()->second.at(0), &grid = edits.before.rbegin()->second.at(0);
  EXPECT_EQ(split.attributes, (std::map<std::string, std::int64_t>{{"axis", 1}, {"num_outputs", 3}}));
  EXPECT_EQ(grid.texts, (std::map<std::string, std::string>{{"mode", "linear"}}));
}

TEST(EditModel, DamagedModelsAreRefusedOrEdited) {
  const std::string model = serialized(chain(11));
  Edits edits = some_edits();
  edits.left_out = {"w"}, edits.opset = 13;
  int refused = 0;
  const auto try_on = [&](const std::string& damaged) {
    try {
      edited(damaged, edits);
    } catch (const Error&) {   // also where the node is gone that an edit names
      ++refused;
    }
  };
  for (std::size_t size = 0; size < model.size(); ++size) try_on(model.substr(0, size));
  EXPECT_GT(refused, static_cast<int>(model.size() / 2));
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = model;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
      damaged[random() % model.size()] ^= static_cast<char>(1 << random() % 8);
    try_on(damaged);
  }
  EXPECT_THROW(edited("", {}), Error);
  EXPECT_THROW(edited(model.substr(0, model.size() - 1), {}), Error);
}

}  // namespace
}  // namespace tenfold::onnx_export
