// Attributes are those of the node's opset, of the standard's types; what operators name in them is known, and found at import.
#include <cmath>

#include "onnx_import/model_for_tests.h"

namespace tenfold::onnx_import {
namespace {

// One node over inputs of the given dims, all f32.
onnx::ModelProto node_model(int opset, const std::string& op, const std::vector<Names>& inputs, const Names& outputs) {
  auto model = new_model(opset);
  Names names;
  for (const Names& dims : inputs) {
    names.push_back(cat("x", names.size()));
    add_input(*model.graph, names.back(), dims);
  }
  add_node(*model.graph, op, names, outputs, "node");
  for (const std::string& output : outputs) add_output(*model.graph, output);
  return model;
}
onnx::AttributeProto& give(onnx::ModelProto& model, const std::string& name, int type) {
  return add_attribute(model.graph->node[0], name, type);
}
void expect_refused(const onnx::ModelProto& model, const std::string& part) { expect_failure(model, ErrorKind::invalid_model, part); }

TEST(AttributeRules, OtherOpsetsAttributesAreRefused) {
  auto split = node_model(13, "Split", {{"6"}}, {"a", "b"});
  give(split, "split", 7).ints = {2, 4};
  expect_refused(split, "it has no attribute 'split' at opset 13; opset 1 to 12 has it");
  split.opset_import[0].version = 11;
  EXPECT_EQ(ir::text(import_model(split).outputs[1]->type), "f32[4]");
  auto resize = node_model(12, "Resize", {{"1"}, {"1"}, {"1"}}, {"y"});
  give(resize, "antialias", 2).i = 1;
  expect_refused(resize, "it has no attribute 'antialias' at opset 12; opset 18 and later has it");
}

TEST(AttributeRules, TypesAreTheStandards) {
  const Names x{"4", "2", "3"}, w{"1", "20", "3"}, r{"1", "20", "5"};
  auto lstm = node_model(17, "LSTM", {x, w, r}, {"y"});
  give(lstm, "clip", 2).i = 1;
  expect_refused(lstm, "attribute 'clip' is an int, a float was expected");
  auto gru = node_model(17, "GRU", {x, {"1", "15", "3"}, {"1", "15", "5"}}, {"y"});
  give(gru, "activations", 8).strings = {"Sigmoid"};
  expect_refused(gru, "activations has 1 values, expected 2");
  gru.graph->node[0].attribute[0].strings = {"Sigmoid", "Sinus"};
  expect_refused(gru, "there is no activation 'sinus'");
  expect_refused(node_model(17, "Concat", {{"2"}, {"2"}}, {"y"}), "the attribute 'axis' is missing");
}

TEST(AttributeRules, ModesAreKnown) {
  for (const char* attribute : {"mode", "coordinate_transformation_mode", "nearest_mode", "keep_aspect_ratio_policy"}) {
    auto model = new_model(18);
    add_input(*model.graph, "x", {"1", "2", "4", "4"});
    model.graph->initializer.push_back(floats("scales", {4}, {1, 1, 2, 2}));
    add_attribute(add_node(*model.graph, "Resize", {"x", "", "scales"}, {"y"}, "node"), attribute, 3).s = "sideways";
    add_output(*model.graph, "y");
    expect_refused(model, cat(attribute, " is \"sideways\""));
  }
}

TEST(AttributeRules, LayerNormalizationBroadcastsToAllOfX) {
  const auto model = [](const Names& scale) { return node_model(17, "LayerNormalization", {{"2", "3", "4"}, scale, scale}, {"y"}); };
  const ir::Graph graph = import_model(model({"2", "1", "4"}));
  std::vector<float> x, scale, bias, expected;
  for (int i = 0; i < 24; ++i) x.push_back(static_cast<float>((i * 7) % 11) - 4);
  for (int i = 0; i < 8; ++i) scale.push_back(0.5f + static_cast<float>(i)), bias.push_back(static_cast<float>(i) / 4);
  for (int row = 0; row < 6; ++row) {
    double mean = 0, variance = 0;
    for (int i = 0; i < 4; ++i) mean += x[static_cast<std::size_t>(row * 4 + i)] / 4.0;
    for (int i = 0; i < 4; ++i) variance += std::pow(x[static_cast<std::size_t>(row * 4 + i)] - mean, 2) / 4;
    for (int i = 0; i < 4; ++i) {
      const auto p = static_cast<std::size_t>(row / 3 * 4 + i);
      const double normal = (x[static_cast<std::size_t>(row * 4 + i)] - mean) / std::sqrt(variance + 1e-5);
      expected.push_back(static_cast<float>(normal * scale[p] + bias[p]));
    }
  }
  const std::vector<float> found = run(graph, {tensor_of(x, {2, 3, 4}), tensor_of(scale, {2, 1, 4}), tensor_of(bias, {2, 1, 4})});
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
  expect_refused(model({"3"}), "does not broadcast");
  expect_refused(model({"2", "2", "4"}), "does not broadcast");
  expect_refused(model({"5", "2", "3", "4"}), "does not broadcast");
}

}  // namespace
}  // namespace tenfold::onnx_import
