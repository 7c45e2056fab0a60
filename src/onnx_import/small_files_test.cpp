// What a small file may ask for is bounded: long names that everything inside repeats, empty messages, functions called often.
#include "onnx_import/model_for_tests.h"
#include "onnx_import/read_messages.h"

namespace tenfold::onnx_import {
namespace {

// `calls` calls of a function whose `nodes` nodes have results `result`; the caller is named `caller`.
onnx::ModelProto calls(int calls, const std::string& caller, int nodes, const std::string& result = "r") {
  auto model = small_model();
  model.opset_import.push_back({"local", 1});
  auto& function = model.functions.emplace_back();
  function.name = "F", function.domain = "local", function.input = {"a"}, function.output = {"a"};
  function.opset_import.push_back({"", 17});
  for (int i = 0; i < nodes; ++i) add_node(function, "Identity", {"a"}, {cat(result, i)});
  for (int i = 0; i < calls; ++i) add_node(*model.graph, "F", {"x"}, {cat("c", i)}, cat(caller, i)).domain = "local";
  return model;
}

TEST(SmallFiles, ANameHasABoundedLength) {
  auto model = small_model();
  model.graph->node[0].name = std::string(5000, 'n');
  expect_failure(model, ErrorKind::invalid_model, "a name has 5000 characters (field 3), at most 4096 are supported");
  expect_failure(calls(1, std::string(4000, 'n'), 1, std::string(100, 'r')), ErrorKind::invalid_model,
                 "a name has 4103 characters with those of the functions and bodies around it, at most 4096");
}

TEST(SmallFiles, NamesAreBoundedTogether) {
  const auto model = calls(3, std::string(1000, 'n'), 10);   // about 2000 characters for each of 30 nodes
  EXPECT_NO_THROW(import_model(model, {.max_name_bytes = 70'000}));
  expect_failure(model, ErrorKind::invalid_model, "more than 50000 characters in all", {.max_name_bytes = 50'000});
}

TEST(SmallFiles, OperandsOfFunctionsAreCountedAtEachCall) {
  auto model = calls(100, "c", 1);
  for (int i = 0; i < 100; ++i) model.functions[0].input.push_back(cat("unused", i));
  EXPECT_NO_THROW(import_model(model, {.max_operands = 11'000}));
  expect_failure(model, ErrorKind::invalid_model, "more than 9000 operands", {.max_operands = 9'000});
  model.functions[0].input.resize(1);
  for (int i = 0; i < 100; ++i) model.functions[0].attribute_proto.emplace_back().name = cat("unused", i);
  expect_failure(model, ErrorKind::invalid_model, "more than 9000 operands", {.max_operands = 9'000});
}

std::string refusal(const std::string& graph, std::size_t most_messages = kMostMessages) {
  const std::string bytes = Writer().bytes(7, graph).text();
  try {
    read_model(std::as_bytes(std::span(bytes)), nullptr, most_messages);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SmallFiles, MessagesAreCountedWhileTheyAreRead) {
  Writer empty;
  for (int i = 0; i < 100; ++i) empty.bytes(i % 2 ? 5 : 15, "");
  EXPECT_EQ(refusal(empty.text(), 101), "");
  EXPECT_NE(refusal(empty.text(), 100).find("more than 100 messages"), std::string::npos) << refusal(empty.text(), 100);
  Writer sparse;
  for (int i = 0; i < 1'000'001; ++i) sparse.bytes(15, "");
  EXPECT_NE(refusal(sparse.text()).find("more than 1000000 initializers"), std::string::npos) << refusal(sparse.text());
  EXPECT_LE(sizeof(onnx::SparseTensorProto), 64u);
}

}  // namespace
}  // namespace tenfold::onnx_import
