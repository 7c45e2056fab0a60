// Importing whole models: names, order, versions, shapes, attributes, and every way to break them.
#include "onnx_import/import.h"

#include <fstream>

#include "onnx_import/model_for_tests.h"

namespace tenfold::onnx_import {
namespace {

TEST(Import, KeepsNamesAndSymbols) {
  const ir::Graph graph = import_model(small_model());
  EXPECT_EQ(graph.inputs.at(0)->name, "x");
  EXPECT_EQ(graph.outputs.at(0)->name, "y");
  EXPECT_EQ(graph.nodes().front()->name, "copy");
  EXPECT_EQ(ir::text(graph.outputs.at(0)->type), "f32[batch,3]");
  ASSERT_EQ(graph.symbols.size(), 1u);
  EXPECT_EQ(graph.symbols[0].lower, ir::Dim(0));
  EXPECT_EQ(run(graph, {tensor_of({1, 2, 3}, {1, 3})}), (std::vector<float>{1, 2, 3}));
}

TEST(Import, EqualNamesAreOneSymbolAndMissingOnesGetTheirOwn) {
  auto model = small_model();
  add_input(*model.graph, "z", {"batch", "", "past + 1", "past.1"});
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(graph.inputs[0]->dims()[0], graph.inputs[1]->dims()[0]);
  EXPECT_EQ(ir::text(graph.inputs[1]->type.tensor.dims).substr(0, 18), "batch,z_d1,past_1,");
  EXPECT_FALSE(graph.inputs[1]->dims()[2] == graph.inputs[1]->dims()[3]);   // two names that look alike once cleaned
}

TEST(Import, NamesThatSayNothingAreNoOnesName) {
  auto model = small_model();
  add_input(*model.graph, "z", {"?", "?", "??"});
  add_input(*model.graph, "u", {"?", "*", "*"});
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(ir::text(graph.inputs[1]->type), "f32[z_d0,z_d1,z_d2]");
  EXPECT_EQ(ir::text(graph.inputs[2]->type), "f32[u_d0,u_d1,u_d2]");
  const ir::Graph fixed = import_model(model, {.input_shapes = {{"z", {4, 5, 6}}, {"u", {1, 2, -1}}}});
  EXPECT_EQ(ir::text(fixed.inputs[1]->type), "f32[4,5,6]");
  EXPECT_EQ(ir::text(fixed.inputs[2]->type), "f32[1,2,u_d2]");
}

TEST(Import, NamesOfAnyScriptAreNames) {
  auto model = small_model();
  add_input(*model.graph, "z", {"\u6279", "\u5217"});
  add_input(*model.graph, "u", {"\u6279"});
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(graph.inputs[1]->dims()[0], graph.inputs[2]->dims()[0]);
  EXPECT_NE(graph.inputs[1]->dims()[0], graph.inputs[1]->dims()[1]);
}

TEST(Import, FixedShapesHoldForTheNameEverywhere) {
  auto model = small_model();
  add_input(*model.graph, "z", {"batch", "n"});
  const ir::Graph graph = import_model(model, {.input_shapes = {{"x", {4, -1}}}});
  EXPECT_EQ(ir::text(graph.inputs[0]->type), "f32[4,3]");
  EXPECT_EQ(ir::text(graph.inputs[1]->type), "f32[4,n]");
  expect_failure(model, ErrorKind::invalid_argument, "the model's inputs are: x, z", {.input_shapes = {{"q", {1}}}});
  expect_failure(model, ErrorKind::invalid_argument, "has 1 dimensions", {.input_shapes = {{"x", {1}}}});
  expect_failure(model, ErrorKind::invalid_argument, "is 3 in the model", {.input_shapes = {{"x", {1, 4}}}});
  expect_failure(model, ErrorKind::invalid_argument, "to 1 and to 2", {.input_shapes = {{"x", {1, 3}}, {"z", {2, 1}}}});
}

TEST(Import, UnrankedInputsNeedAShape) {
  auto model = small_model();
  model.graph->input[0].type.tensor_type->shape.reset();
  expect_failure(model, ErrorKind::unsupported, "no declared number of dimensions");
  EXPECT_EQ(ir::text(import_model(model, {.input_shapes = {{"x", {2, 3}}}}).outputs[0]->type), "f32[2,3]");
}

TEST(Import, InitializersThatAreInputsAreConstants) {
  auto model = new_model();
  auto& graph = *model.graph;
  add_input(graph, "w", {"2"});
  add_input(graph, "x", {"2"});
  graph.initializer.emplace_back() = floats("w", {2}, {5, 6});
  add_node(graph, "Concat", {"w", "x"}, {"y"}).name = "join";
  add_int(graph.node[0], "axis", 0);
  add_output(graph, "y");
  const ir::Graph result = import_model(model);
  ASSERT_EQ(result.inputs.size(), 1u);
  EXPECT_EQ(run(result, {tensor_of({1, 2}, {2})}), (std::vector<float>{5, 6, 1, 2}));
}

TEST(Import, OutputsThatAreInputsOrConstantsKeepTheirNames) {
  auto model = small_model();
  model.graph->initializer.emplace_back() = floats("w", {1}, {7});
  add_output(*model.graph, "w");
  add_output(*model.graph, "x");
  const ir::Graph graph = import_model(model);
  ASSERT_EQ(graph.outputs.size(), 3u);
  EXPECT_EQ(graph.outputs[1]->name, "w");
  EXPECT_EQ(graph.outputs[2]->name, "x");
  EXPECT_EQ(run(graph, {tensor_of({1, 2, 3}, {1, 3})}, 1), std::vector<float>{7});
}

TEST(Import, SortsNodesAndNamesCycles) {
  auto model = new_model();
  auto& graph = *model.graph;
  add_input(graph, "x", {"1"});
  add_node(graph, "Identity", {"a"}, {"y"}, "second");
  add_node(graph, "Identity", {"x"}, {"a"}, "first");
  add_output(graph, "y");
  EXPECT_EQ(import_model(model).nodes().front()->name, "first");
  graph.node[1].input[0] = "y";
  add_node(graph, "Identity", {"y"}, {"after"}, "outside the cycle");
  const Failure found = failure(model);
  EXPECT_EQ(found.kind, ErrorKind::invalid_model);
  EXPECT_TRUE(found.text.find("'first'") != std::string::npos || found.text.find("'second'") != std::string::npos) << found.text;
}

TEST(Import, NamesWhatIsDefinedTwiceOrNotAtAll) {
  auto model = small_model();
  add_node(*model.graph, "Identity", {"x"}, {"y"}, "again");
  expect_failure(model, ErrorKind::invalid_model, "'y' is defined twice: by node 'copy' (Identity) and by node 'again'");
  model = small_model();
  add_node(*model.graph, "Identity", {"y"}, {"x"}, "over input");
  expect_failure(model, ErrorKind::invalid_model, "depends on its own result");
  model = small_model();
  model.graph->initializer.emplace_back() = floats("y", {1}, {1});
  expect_failure(model, ErrorKind::invalid_model, "'y' is defined twice");
  model = small_model();
  add_input(*model.graph, "x", {"1"});
  expect_failure(model, ErrorKind::invalid_model, "two inputs are named 'x'");
  model = small_model();
  add_output(*model.graph, "y");
  expect_failure(model, ErrorKind::invalid_model, "two outputs are named 'y'");
  model = small_model();
  model.graph->node[0].input[0] = "ghost";
  expect_failure(model, ErrorKind::invalid_model, "importing node 'copy' (Identity, opset 17): its input 'ghost' is not defined");
  model = small_model();
  add_output(*model.graph, "ghost");
  expect_failure(model, ErrorKind::invalid_model, "the output 'ghost' is not defined");
}

TEST(Import, ReportsAllUnsupportedNodesAtOnce) {
  auto model = small_model();
  auto& graph = *model.graph;
  add_node(graph, "NoSuchOperator", {"x"}, {"a"}, "one");
  add_node(graph, "Identity", {"a"}, {"b"}, "after one");
  add_node(graph, "Strange", {"x"}, {"c"}, "two").domain = "com.acme";
  model.opset_import.emplace_back().domain = "com.acme";
  model.opset_import[1].version = 3;
  const Failure found = failure(model);
  EXPECT_EQ(found.kind, ErrorKind::unsupported);
  EXPECT_NE(found.text.find("2 nodes are not supported"), std::string::npos) << found.text;
  EXPECT_NE(found.text.find("node 'one' (NoSuchOperator, opset 17): there is no operator 'NoSuchOperator'"), std::string::npos)
      << found.text;
  EXPECT_NE(found.text.find("node 'two' (com.acme.Strange, opset 3)"), std::string::npos) << found.text;
  EXPECT_EQ(found.text.find("after one"), std::string::npos) << found.text;
}

TEST(Import, ChecksAttributes) {
  const auto with = [](const std::string& name, int type, auto set) {
    auto model = new_model();
    add_input(*model.graph, "x", {"2", "3"});
    set(add_attribute(add_node(*model.graph, "Softmax", {"x"}, {"y"}, "s"), name, type));
    add_output(*model.graph, "y");
    return model;
  };
  import_model(with("axis", 2, [](auto& a) { a.i = 0; }));
  import_model(with("axis", 2, [](auto&) {}));   // proto3 writers leave out zeros
  expect_failure(with("axis", 1, [](auto& a) { a.f = 1; }), ErrorKind::invalid_model, "axis");
  expect_failure(with("axis", 7, [](auto& a) { a.ints.push_back(1); }), ErrorKind::invalid_model, "axis");
  expect_failure(with("axis", 2, [](auto& a) { a.s = "1"; }), ErrorKind::invalid_model, "declared as int but holds string");
  expect_failure(with("axis", 99, [](auto&) {}), ErrorKind::invalid_model, "unknown type 99");
  expect_failure(with("axis", 0, [](auto&) {}), ErrorKind::invalid_model, "has no type");
  expect_failure(with("axes", 2, [](auto& a) { a.i = 1; }), ErrorKind::invalid_model, "axes");
}

TEST(Import, ChecksVersions) {
  auto model = small_model();
  model.opset_import.clear();
  expect_failure(model, ErrorKind::invalid_model, "imports no operator set");
  model.opset_import.emplace_back().version = 0;
  expect_failure(model, ErrorKind::invalid_model, "imports version 0");
  model = small_model();
  model.ir_version = 0;
  expect_failure(model, ErrorKind::invalid_model, "no IR version");
  model = small_model();
  model.graph->node[0].domain = "com.acme";
  expect_failure(model, ErrorKind::invalid_model, "no version of the domain 'com.acme'");
  std::string logged;
  model = small_model();
  model.ir_version = 99;
  import_model(model, {.log = Log([&](Severity, std::string_view text) { logged += text; })});
  EXPECT_NE(logged.find("IR version 99 is newer"), std::string::npos);
}

// Old exporters write -1 for what they do not know.
TEST(Import, ExtentsOfMinusOneAreDynamic) {
  auto model = new_model();
  add_input(*model.graph, "x", {"-1", "3", "-1"});
  add_node(*model.graph, "Identity", {"x"}, {"y"});
  set_value(model.graph->output.emplace_back(), "y", {"-1", "3", "-1"});
  EXPECT_EQ(ir::text(import_model(model).outputs[0]->type), "f32[x_d0,3,x_d2]");
  EXPECT_EQ(ir::text(import_model(model, {.input_shapes = {{"x", {4, -1, 2}}}}).outputs[0]->type), "f32[4,3,2]");
}

TEST(Import, RanksAreBoundedWhereverTheyCome) {
  auto model = new_model();
  add_input(*model.graph, "x", Names(60, "1"));
  auto& axes = model.graph->initializer.emplace_back();
  axes.name = "axes", axes.data_type = 7, axes.dims = {5}, axes.int64_data = {0, 1, 2, 3, 4};
  add_node(*model.graph, "Unsqueeze", {"x", "axes"}, {"y"}, "grow");
  add_output(*model.graph, "y");
  expect_failure(model, ErrorKind::unsupported,
                 "node 'grow' (Unsqueeze, opset 17): its result has 65 dimensions, at most 64 are supported");
}

TEST(Import, RefusesBadShapes) {
  for (const Names& dims : {Names{"-2"}, Names{"4611686018427387904"}, Names(65, "1")}) {
    auto model = small_model();
    add_input(*model.graph, "z", dims);
    expect_failure(model, ErrorKind::invalid_model, "input 'z'");
  }
  auto model = small_model();
  model.graph.edit().input[0].type = {};
  expect_failure(model, ErrorKind::unsupported, "has no type");
  model = small_model();
  model.graph->output[0].type.tensor_type.emplace().elem_type = 7;
  expect_failure(model, ErrorKind::invalid_model, "declared as i64, but computed as f32");
}

TEST(Import, WarnsOfNanInWeights) {
  auto model = small_model();
  model.graph->initializer.emplace_back() = floats("fine", {2}, {1, 2});
  model.graph->initializer.emplace_back() = floats("sick", {3}, {1, NAN, 2});
  std::string logged;
  ImportOptions options{.log = Log([&](Severity severity, std::string_view text) { logged += cat(name(severity), ":", text, ";"); })};
  import_model(model, options);
  EXPECT_EQ(logged, "warning:the weight 'sick' contains NaN or infinity;");
  model.graph->initializer.emplace_back() = floats("mask", {3}, {0, -INFINITY, 2});
  model.graph->initializer.emplace_back() = floats("other", {2}, {-INFINITY, 0});
  model.graph->initializer.emplace_back() = floats("large", {2}, {-INFINITY, INFINITY});
  logged.clear();
  import_model(model, options);
  EXPECT_EQ(logged,
            "warning:the weight 'sick' contains NaN or infinity;warning:the weight 'large' contains NaN or infinity;"
            "info:weights with -infinity, as masks in front of a softmax have it: 'mask', 'other';");
  logged.clear();
  options.check_finite = false;
  import_model(model, options);
  EXPECT_EQ(logged, "");
}

// Fuzzing found that a number no integer can hold was cast to one.
TEST(Import, NumbersThatFillIntegerTensorsFitThem) {
  const auto padded = [](float value, DType type = DType::i8) {
    auto model = new_model(7);
    add_input(*model.graph, "x", {"2"}, type);
    auto& pad = add_node(*model.graph, "Pad", {"x"}, {"y"}, "pad");
    auto& pads = add_attribute(pad, "pads", 7);
    pads.ints.push_back(1), pads.ints.push_back(0);
    add_attribute(pad, "value", 1).f = value;
    add_output(*model.graph, "y");
    return model;
  };
  import_model(padded(-128));
  for (const float value : {-1.7e38f, 128.0f, std::nanf("")}) expect_failure(padded(value), ErrorKind::invalid_model, "is no value of i8");
  expect_failure(padded(0, DType::string), ErrorKind::invalid_model, "cannot fill a tensor of strings");
}

// Fuzzing plans found that Pow looked at the types of operands that are not there.
TEST(Import, OperandsOfPointwiseOperatorsAreNotLeftOut) {
  auto model = small_model();
  auto& node = model.graph->node[0];
  node.op_type = "Pow";
  node.input[0] = "", node.input.push_back("x");
  expect_failure(model, ErrorKind::invalid_model, "operand 0 of Pow is missing");
}

TEST(Import, EveryTruncationAndEveryFlippedByteEndsInAnError) {
  auto model = small_model();
  model.graph->initializer.emplace_back() = floats("w", {2}, {1, 2});
  add_int(add_node(*model.graph, "Softmax", {"y"}, {"z"}), "axis", 0);
  add_output(*model.graph, "z");
  const std::string whole = serialized(model);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    EXPECT_THROW(import_bytes(std::as_bytes(std::span(cut))), Error) << "cut to " << size << " of " << whole.size();
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        import_bytes(std::as_bytes(std::span(damaged)));   // a changed name or number may still be a model
      } catch (const Error& error) {
        EXPECT_NE(name(error.kind()), "internal") << error.what();
      }
    }
  }
}

TEST(Import, RefusesWhatIsNoModelFile) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "tenfold_no_models";
  std::filesystem::create_directories(folder);
  const auto refused = [&](const std::filesystem::path& path, ErrorKind kind) {
    try {
      import_file(path);
      ADD_FAILURE() << path << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(name(error.kind()), name(kind)) << error.what();
    }
  };
  std::ofstream(folder / "empty.onnx");
  std::ofstream(folder / "text.onnx") << "version https://git-lfs.github.com/spec/v1\noid sha256:00\n";
  refused(folder / "absent.onnx", ErrorKind::io);
  refused(folder, ErrorKind::io);
  refused(folder / "empty.onnx", ErrorKind::invalid_model);
  refused(folder / "text.onnx", ErrorKind::invalid_model);
  refused("/dev/null", ErrorKind::io);
  std::filesystem::remove_all(folder);
}

// As torch writes view(-1, 6) at old opsets: a shape kept as floats.
TEST(Import, SizesThatAreComputedWithFloatsAreKnown) {
  auto model = new_model();
  auto& graph = *model.graph;
  add_input(graph, "x", {"batch", "2", "3"});
  std::vector<float> table(100, 1);
  table[98] = -0.5, table[99] = 3;
  graph.initializer.emplace_back() = floats("table", {50, 2}, table);
  auto* row = &graph.initializer.emplace_back();
  row->name = "row", row->data_type = 7, row->int64_data.push_back(49);
  row->dims.clear();
  add_node(graph, "Gather", {"table", "row"}, {"half"});
  graph.initializer.emplace_back() = floats("two", {}, {2});
  add_node(graph, "Mul", {"half", "two"}, {"shape"});
  add_int(add_node(graph, "Cast", {"shape"}, {"whole"}), "to", 7);
  add_node(graph, "Reshape", {"x", "whole"}, {"y"});
  add_output(graph, "y");
  EXPECT_EQ(ir::text(import_model(model).outputs[0]->type), "f32[batch,6]");
}

TEST(Import, SequencesAreFollowed) {
  auto model = new_model();
  auto& graph = *model.graph;
  add_input(graph, "x", {"2", "5"});
  auto* one = &graph.initializer.emplace_back();
  one->name = "last", one->data_type = 7, one->int64_data.push_back(-1);
  auto* two = &graph.initializer.emplace_back();
  two->name = "two", two->data_type = 7, two->int64_data.push_back(2);
  add_int(add_node(graph, "SplitToSequence", {"x", "two"}, {"parts"}), "axis", 1);        // of 2, 2 and 1 columns
  add_node(graph, "SequenceAt", {"parts", "last"}, {"end"});
  add_node(graph, "SequenceErase", {"parts"}, {"begin"});
  add_node(graph, "SequenceInsert", {"begin", "end", "zero"}, {"turned"});
  auto* zero = &graph.initializer.emplace_back();
  zero->name = "zero", zero->data_type = 7, zero->int64_data.push_back(0);
  add_int(add_node(graph, "ConcatFromSequence", {"turned"}, {"y"}), "axis", 1);
  add_node(graph, "SequenceLength", {"turned"}, {"count"});
  add_output(graph, "y");
  add_output(graph, "count");
  const ir::Graph result = import_model(model);
  for (const auto& value : result.values()) {
    if (!value->producer) continue;
    EXPECT_EQ(value->type.kind, ir::ValueType::Kind::tensor) << value->name;
  }
  const auto outputs = ops::run_graph(result, {tensor_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {2, 5})});
  const Tensor& y = std::get<Tensor>(outputs[0]);
  EXPECT_EQ(std::vector<float>(y.data<float>(), y.data<float>() + y.size()), (std::vector<float>{4, 0, 1, 2, 3, 9, 5, 6, 7, 8}));
  EXPECT_EQ(std::get<Tensor>(outputs[1]).as_int(0), 3);
}

TEST(Import, SequencesThatAreOutputsStay) {
  auto model = new_model();
  auto& graph = *model.graph;
  add_input(graph, "x", {"2"});
  add_node(graph, "SequenceConstruct", {"x", "x"}, {"y"});
  add_output(graph, "y");
  const ir::Graph result = import_model(model);
  EXPECT_EQ(ir::text(result.outputs.at(0)->type), "seq(f32[2])");
  EXPECT_EQ(ops::run_graph(result, {tensor_of({1, 2}, {2})}).at(0).elements().size(), 2U);
}

}  // namespace
}  // namespace tenfold::onnx_import
