// For tests of operators: one problem line, and what an independent implementation says its results are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "base/types/element.h"
#include "ir/scan.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold::ops {

// `results` are tensor literals, one for each output: "f32[2]{0,1} i64[2]{1,0}".
// Elements may differ by `tolerance`, relative to numbers above 1; by default they are equal. NaN equals NaN.
struct ExpectedCase {
  const char *op, *problem, *results;
  double tolerance = 0;
};

inline std::vector<Tensor> parse_results(const char* text) {
  std::vector<Tensor> tensors;
  for (ir::Scanner in(text); in.peek() != '\0';) tensors.push_back(ir::parse_literal(in));
  return tensors;
}

inline void expect_close(double found, double expected, double tolerance, std::int64_t element) {
  if (std::isnan(expected)) EXPECT_TRUE(std::isnan(found)) << "element " << element << " is " << found;
  else if (std::isinf(expected)) EXPECT_EQ(found, expected) << "element " << element;
  else EXPECT_NEAR(found, expected, tolerance * std::max(1.0, std::fabs(expected))) << "element " << element;
}

inline void expect_same(const Tensor& found, const Tensor& expected, const std::string& where, double tolerance = 0) {
  SCOPED_TRACE(where);
  ASSERT_EQ(name(found.dtype()), name(expected.dtype()));
  ASSERT_EQ(text(found.shape()), text(expected.shape()));
  if (found.dtype() == DType::string) {
    EXPECT_EQ(found.string_values(), expected.string_values());
    return;
  }
  for (std::int64_t i = 0; i < found.size(); ++i) {
    if (is_float(found.dtype()) || tolerance > 0) expect_close(found.as_double(i), expected.as_double(i), tolerance, i);
    else EXPECT_EQ(found.as_int(i), expected.as_int(i)) << "element " << i;
  }
}

// Where inference claims to know the elements of a result, it has to be right.
inline void expect_contents(const ir::Value& value, const Tensor& expected, const std::string& where) {
  SCOPED_TRACE(where);
  if (!value.contents) return;
  ASSERT_EQ(static_cast<std::int64_t>(value.contents->size()), expected.size());
  for (std::int64_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ((*value.contents)[static_cast<std::size_t>(i)].text(), std::to_string(expected.as_int(i)));
}

// Runs the case and compares results, inferred types and contents.
inline void expect_case(const ir::OpDef& op, const Case& c, const std::vector<Tensor>& expected, const std::string& where,
                        double tolerance = 0) {
  const ir::Graph graph = case_graph(ir::Registry::builtin(), op, c);
  std::vector<RuntimeValue> inputs;
  for (const CaseOperand& operand : c.operands)
    if (!operand.missing && !operand.constant) inputs.emplace_back(operand.data);
  const std::vector<RuntimeValue> results = run_graph(graph, inputs);
  ASSERT_EQ(results.size(), expected.size()) << where;
  for (std::size_t i = 0; i < results.size(); ++i) {
    expect_same(std::get<Tensor>(results[i]), expected[i], where, tolerance);
    expect_contents(*graph.outputs[i], expected[i], where);
  }
}

inline void expect_case(const ExpectedCase& e) {
  const ir::OpDef& op = ir::Registry::builtin().get(e.op);
  expect_case(op, parse_case(op, e.problem), parse_results(e.results), std::string(e.op) + " " + e.problem, e.tolerance);
}

// Every case of an operator runs, and gives the inferred types.
inline void expect_cases_run(const char* name) {
  const ir::OpDef& op = ir::Registry::builtin().get(name);
  EXPECT_GE(op.cases.size(), 3u) << name;
  for (const std::string& line : op.cases) {
    SCOPED_TRACE(std::string(name) + " " + line);
    const Case c = parse_case(op, line);
    const ir::Graph graph = case_graph(ir::Registry::builtin(), op, c);
    std::vector<RuntimeValue> inputs;
    for (const CaseOperand& operand : c.operands)
      if (!operand.missing && !operand.constant) inputs.emplace_back(operand.data);
    const std::vector<RuntimeValue> results = run_graph(graph, inputs);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Tensor& result = std::get<Tensor>(results[i]);
      EXPECT_EQ(tenfold::name(result.dtype()), tenfold::name(graph.outputs[i]->dtype()));
      if (ir::is_constant(graph.outputs[i]->dims())) {
        EXPECT_EQ(result.shape(), ir::constants(graph.outputs[i]->dims()));
      }
    }
  }
}

// The type and the known contents of the first result of a graph in text form, in which operands may also be literals:
// "(x f32[a,b])\n s = Shape(x)\n y = Gather(s, i64[]{1})" gives "i64[] {b}".
inline std::string type_of(const std::string& text) {
  static const std::regex literal(R"(([(,] ?)([a-z]+[0-9]+\[[0-9,]*\]\{[^}]*\}))");
  const std::size_t body = text.find(")\n") + 2;
  std::string head = text.substr(0, body), rest = text.substr(body);
  int number = 0;
  for (std::smatch found; std::regex_search(rest, found, literal);) {
    const std::string value = "literal" + std::to_string(number++);
    head += " " + value + " = " + found[2].str() + "\n";
    rest = found.prefix().str() + found[1].str() + value + found.suffix().str();
  }
  const ir::Graph graph = ir::parse_graph(head + rest, ir::Registry::builtin());
  const ir::Value& result = *graph.outputs.at(0);
  return ir::text(result.type) + (result.contents ? " {" + ir::text(*result.contents) + "}" : "");
}

// By which name of ir/fault.h an error was thrown; "run" is the `need` of a kernel's call.
inline std::string refusal_of(const Error& e) {
  if (dynamic_cast<const ir::Fault*>(&e)) return "sound";
  return e.kind() == ErrorKind::invalid_model ? "need" : e.kind() == ErrorKind::unsupported ? "supported" : "run";
}

// A graph that inference has to refuse; text that does not even parse does not count.
inline void expect_refused(const std::string& text) {
  try {
    ADD_FAILURE() << text << " is " << type_of(text);
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_TRUE(message.find("unknown value") == std::string::npos && message.find("expected '") == std::string::npos) << message;
    EXPECT_TRUE(e.kind() == ErrorKind::invalid_model || e.kind() == ErrorKind::unsupported) << message;
  }
}

// The reference kernel of a graph's one node refuses operands whose symbolic sizes turned out not to fit, and reads nothing beyond them.
inline void expect_reference_refuses(const std::string& text, const std::vector<Tensor>& operands, const std::string& expected) {
  const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin());
  ir::Call call;
  call.node = graph.nodes().front().get();
  for (const ir::Value* v : call.node->inputs) {
    const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), v) - graph.inputs.begin();
    if (!v) { call.in.emplace_back(); continue; }
    const Tensor& t = operands.at(static_cast<std::size_t>(at));
    call.in.push_back({t.dtype(), t.shape(), const_cast<void*>(t.raw())});
  }
  std::vector<Tensor> results;
  for (const ir::Value* v : call.node->outputs) {
    const Tensor& t = results.emplace_back(v->dtype(), Shape{1 << 12});
    call.out.push_back({t.dtype(), t.shape(), const_cast<void*>(t.raw())});
  }
  try {
    call.node->def->reference(call);
    ADD_FAILURE() << text << " is not refused";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << e.what();
  }
}

}  // namespace tenfold::ops
