// What a small file may ask for is bounded: long names that everything inside repeats, empty messages, functions called often.
#include "ir/dim_expr.h"
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

std::string refusal(const std::string& graph, std::size_t max_messages = kMaxMessages) {
  const std::string bytes = Writer().bytes(7, graph).text();
  try {
    read_model(std::as_bytes(std::span(bytes)), nullptr, max_messages);
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

// n times d / (d + 1) for a size d of the input: 2^n characters if nothing stops it.
onnx::ModelProto quotients(int n) {
  auto model = small_model();
  auto& graph = *model.graph;
  auto& at = graph.initializer.emplace_back();
  at.name = "at", at.data_type = 7, at.int64_data = {0};
  auto& one = graph.initializer.emplace_back();
  one.name = "one", one.data_type = 7, one.int64_data = {1}, one.dims = {1};
  add_node(graph, "Shape", {"x"}, {"shape"});
  add_node(graph, "Gather", {"shape", "at"}, {"d0"});
  for (int i = 0; i < n; ++i) {
    add_node(graph, "Add", {cat("d", i), "one"}, {cat("s", i)});
    add_node(graph, "Div", {cat("d", i), cat("s", i)}, {cat("d", i + 1)}, cat("quotient", i));
  }
  add_output(graph, cat("d", n));
  return model;
}

TEST(SmallFiles, ShapesHaveBoundedExpressions) {
  EXPECT_NO_THROW(import_model(quotients(6)));
  EXPECT_NO_THROW(import_model(quotients(40))) << "beyond the bound contents are just not known, and nothing doubles further";
}

TEST(SmallFiles, ShapesDieWithTheirGraph) {
  const std::size_t before = ir::detail::interned();
  for (int i = 0; i < 3; ++i) import_model(quotients(8));
  EXPECT_EQ(ir::detail::interned(), before);
}

TEST(SmallFiles, ShapesAreBoundedTogether) {
  EXPECT_NO_THROW(import_model(quotients(6), {.max_shape_bytes = 4000}));
  expect_failure(quotients(6), ErrorKind::unsupported, "take more than 500 characters", {.max_shape_bytes = 500});
}

// Calls that double: refused before any of the nodes is made, in no time and memory.
TEST(SmallFiles, WhatFunctionsUnfoldToIsCountedFirst) {
  const auto doubling = [](int levels) {
    auto model = small_model();
    model.opset_import.push_back({"local", 1});
    for (int i = 0; i < levels; ++i) {
      auto& function = model.functions.emplace_back();
      function.name = cat("F", i), function.domain = "local", function.input = {"a"}, function.output = {"r"};
      function.opset_import = {{"", 17}, {"local", 1}};
      for (int twice = 0; twice < 2; ++twice) {
        auto& node = add_node(function, i == 0 ? "Neg" : cat("F", i - 1), {twice ? "t" : "a"}, {twice ? "r" : "t"});
        if (i > 0) node.domain = "local";
      }
    }
    add_node(*model.graph, cat("F", levels - 1), {"x"}, {"z"}, "caller").domain = "local";
    return model;
  };
  EXPECT_EQ(import_model(doubling(8)).nodes().size(), 256u + 1);
  expect_failure(doubling(40), ErrorKind::invalid_model, "node 'caller' (F39) makes it at least");
  expect_failure(doubling(40), ErrorKind::invalid_model, "no more than 70");   // 65536 and 64 for each of the 82 of the file
  expect_failure(doubling(17), ErrorKind::invalid_model, "262144 nodes");
}

TEST(SmallFiles, NamesAreUtf8) {
  for (const char* name : {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"}) {
    auto model = small_model();
    model.graph->node[0].name = name;
    expect_failure(model, ErrorKind::invalid_model, "is no UTF-8");
    expect_failure(model, ErrorKind::invalid_model, "\\x");
    model = small_model();
    model.graph->input[0].type.tensor_type->shape->dim[0].dim_param = name;
    expect_failure(model, ErrorKind::invalid_model, "is no UTF-8");
  }
  auto model = small_model();
  model.graph->node[0].name = "caf\xc3\xa9 \xf0\x9f\x8e\x89";
  EXPECT_EQ(import_model(model).nodes().front()->name, "caf\xc3\xa9 \xf0\x9f\x8e\x89");
}

}  // namespace
}  // namespace tenfold::onnx_import
