// Operands that the standard gives one type have one, whatever the operator is made of here.
#include <optional>

#include "onnx_import/model_for_tests.h"

namespace tenfold::onnx_import {
namespace {

struct Operand {
  DType type;
  Names dims = {"2", "2"};
};

// A node named "node" over inputs x0, x1, ..; an operand without an input: one that is left out.
onnx::ModelProto node_model(int opset, const std::string& op, const std::vector<std::optional<Operand>>& operands) {
  auto model = new_model(opset);
  Names names;
  for (const auto& operand : operands) {
    names.push_back(operand ? cat("x", names.size()) : "");
    if (operand) add_input(*model.graph, names.back(), operand->dims, operand->type);
  }
  add_node(*model.graph, op, names, {"y"}, "node");
  add_output(*model.graph, "y");
  return model;
}

void expect_refused(const onnx::ModelProto& model, const std::string& part) {
  const Failure found = failure(model);
  EXPECT_EQ(name(found.kind), name(ErrorKind::invalid_model)) << found.text;
  EXPECT_NE(found.text.find(part), std::string::npos) << "'" << part << "' is not in: " << found.text;
  EXPECT_NE(found.text.find("'node'"), std::string::npos) << found.text;
}

const Operand f32{DType::f32}, f16{DType::f16}, i64{DType::i64}, u8{DType::u8}, i8{DType::i8}, boolean{DType::boolean};

TEST(OperandTypes, OfOneVariableAreEqual) {
  expect_refused(node_model(17, "Add", {f32, i64}), "operand 1 ('x1') of Add is i64, expected f32 as operand 0 ('x0') is");
  expect_refused(node_model(17, "Where", {boolean, f32, f16}), "operand 2 ('x2') of Where is f16, expected f32 as operand 1 ('x1') is");
  expect_refused(node_model(17, "Max", {f32, f32, f32, f16}), "operand 3 ('x3') of Max is f16, expected f32 as operand 0 ('x0') is");
  expect_refused(node_model(17, "Clip", {f32, std::nullopt, i64}), "operand 2 ('x2') of Clip is i64, expected f32 as operand 0");
}

// Operators whose own kernels take mixed types, for the sake of quantized forms.
TEST(OperandTypes, HoldWhereOperatorsOfTheGraphTakeMore) {
  const Operand image{DType::f32, {"1", "2", "4", "4"}}, weights{DType::f32, {"3", "2", "1", "1"}};
  expect_refused(node_model(17, "Conv", {image, weights, Operand{DType::f16, {"3"}}}),
                 "operand 2 ('x2') of Conv is f16, expected f32 as operand 0 ('x0') is");
  const Operand scale{DType::f32, {}};
  expect_refused(node_model(17, "DequantizeLinear", {u8, scale, Operand{DType::i8, {}}}),
                 "operand 2 ('x2') of DequantizeLinear is i8, expected u8 as operand 0 ('x0') is");
  expect_refused(node_model(17, "MatMulInteger", {u8, i8, Operand{DType::i8, {}}}),
                 "operand 2 ('x2') of MatMulInteger is i8, expected u8 as operand 0 ('x0') is");
}

TEST(OperandTypes, OfSeveralVariablesMayDiffer) {
  EXPECT_EQ(import_model(node_model(17, "MatMulInteger", {u8, i8})).outputs.size(), 1u);
  EXPECT_EQ(import_model(node_model(17, "Pow", {f32, i64})).outputs.size(), 1u);   // one variable before opset 12
  expect_refused(node_model(11, "Pow", {f32, i64}), "operand 1 ('x1') of Pow is i64, expected f32 as operand 0");
  const Operand scale{DType::f32, {}};
  EXPECT_EQ(import_model(node_model(17, "CastLike", {f32, i64})).outputs[0]->dtype(), DType::i64);
  expect_refused(node_model(21, "QuantizeLinear", {f16, scale}), "operand 1 ('x1') of QuantizeLinear is f32, expected f16 as operand 0");
}

}  // namespace
}  // namespace tenfold::onnx_import
