// Inputs that need not be bound: initializers that are inputs, too, and defaults that the caller gives.
#include <gtest/gtest.h>

#include <filesystem>

#include "api_build/network_for_tests.h"
#include "base/check.h"
#include "onnx_import/write_messages_for_tests.h"
#include "tenfold/model_error.h"

namespace tenfold {
namespace {

namespace onnx = onnx_import::onnx;

void add_value(std::vector<onnx::ValueInfoProto>& list, const char* name, const std::vector<std::int64_t>& dims) {
  onnx::ValueInfoProto& info = list.emplace_back();
  info.name = name;
  auto& tensor = info.type.tensor_type.emplace();
  tensor.elem_type = 1;
  auto& shape = tensor.shape.emplace();
  for (const std::int64_t d : dims) {
    if (d >= 0) shape.dim.emplace_back().dim_value = d;
    else shape.dim.emplace_back().dim_param = "open";
  }
}

// y = x w + b for x[2,2]; w is an input, too, declared with an open extent, and so is b; c is neither.
std::string model(std::int64_t ir_version = 8) {
  onnx::ModelProto m;
  m.ir_version = ir_version;
  m.opset_import.push_back({"", 17});
  onnx::GraphProto& g = m.graph.edit();
  g.name = "optional";
  add_value(g.input, "x", {2, 2}), add_value(g.input, "w", {2, -1}), add_value(g.input, "b", {2});
  add_value(g.output, "y", {2, 2});
  const auto weight = [&](const char* name, std::vector<std::int64_t> dims, std::vector<float> values) {
    onnx::TensorProto& t = g.initializer.emplace_back();
    t.name = name, t.data_type = 1, t.dims = std::move(dims), t.float_data = std::move(values);
  };
  weight("w", {2, 2}, {1, 2, 3, 4}), weight("b", {2}, {10, 20}), weight("c", {2}, {0, 0});
  const auto node = [&](const char* op, std::vector<std::string> in, const char* out) {
    onnx::NodeProto& n = g.node.emplace_back();
    n.op_type = op, n.name = out, n.input = std::move(in), n.output = {out};
  };
  node("MatMul", {"x", "w"}, "p"), node("Add", {"p", "b"}, "s"), node("Add", {"s", "c"}, "y");
  return onnx::serialized(m);
}

Engine built(const std::string& onnx, const BuildConfig& config) { return build_bytes(std::as_bytes(std::span(onnx)), config); }

BuildConfig plain(std::vector<std::string> overridable = {}) {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1, config.tf32 = false, config.overridable = std::move(overridable);
  return config;
}

std::vector<std::string> inputs_of(const Engine& engine) {
  std::vector<std::string> names;
  for (const BindingInfo& b : engine.bindings())
    if (b.is_input) names.push_back(b.name + (b.has_default ? "?" : ""));
  return names;
}

const Tensor& x() {
  static const Tensor one = floats({2, 2}, {1, 0, 0, 1});
  return one;
}

TEST(OptionalInputs, AreConstantsUnlessTheyAreAskedFor) {
  for (const std::int64_t ir : {std::int64_t{3}, std::int64_t{8}})
    EXPECT_EQ(inputs_of(built(model(ir), plain())), (std::vector<std::string>{"x"}));
  EXPECT_EQ(inputs_of(built(model(), plain({"b"}))), (std::vector<std::string>{"x", "b?"}));
  EXPECT_EQ(inputs_of(built(model(3), plain({"*"}))), (std::vector<std::string>{"x", "w?", "b?"})) << "in the model's order";
}

void expect_defaults_and_overrides(const Engine& engine) {
  const auto context = engine.create_context();
  expect_values(context->run({x(), {}, {}})[0], {2, 2}, {11, 22, 13, 24});
  expect_values(context->run({x(), {}, floats({2}, {0, 1})})[0], {2, 2}, {1, 3, 3, 5});
  expect_values(context->run({x(), floats({2, 2}, {0, 0, 0, 1}), {}})[0], {2, 2}, {10, 20, 10, 21});
  expect_values(context->run({x(), {}, {}})[0], {2, 2}, {11, 22, 13, 24});   // an override holds for its run alone
}

TEST(OptionalInputs, BoundOnesAreUsedAndOthersHaveTheirDefaults) { expect_defaults_and_overrides(built(model(), plain({"*"}))); }

TEST(OptionalInputs, BindingAndUnbinding) {
  const Engine engine = built(model(), plain({"w", "b"}));
  const auto context = engine.create_context();
  std::vector<float> in{1, 0, 0, 1}, other{5, 6}, out(4);
  const auto run = [&] {
    const Status status = context->run();
    EXPECT_TRUE(status) << context->describe(status);
    return out[0];
  };
  ASSERT_TRUE(context->bind(0, in.data(), 16));
  ASSERT_TRUE(context->bind(3, out.data(), 16));
  EXPECT_EQ(run(), 11);
  ASSERT_TRUE(context->bind(2, other.data(), 8));
  EXPECT_EQ(run(), 6);
  ASSERT_TRUE(context->bind(2, nullptr, 0));
  EXPECT_EQ(run(), 11);
  auto* own = static_cast<float*>(context->own_memory(2));
  EXPECT_EQ(own[0], 10);
  own[0] = 3;   // the context's own memory is the caller's to write
  EXPECT_EQ(run(), 4);
}

TEST(OptionalInputs, SurviveSavingTuningAndRebuilding) {
  BuildConfig config = plain({"*"});
  config.version_compatible = true, config.labels = {{"who", "a test"}};
  const Engine engine = built(model(), config);
  std::vector<std::byte> bytes = engine.serialize();
  expect_defaults_and_overrides(Engine::load(bytes));
  expect_defaults_and_overrides(retune(engine, plain()));
  const Engine again = load_compatible(bytes, {.device = "null"});
  EXPECT_EQ(inputs_of(again), inputs_of(engine));
  EXPECT_EQ(again.labels(), engine.labels());
  EXPECT_EQ(static_cast<const float*>(again.create_context()->own_memory(2))[1], 20);
}

TEST(OptionalInputs, DefaultsTakeTheFormatOfTheirInput) {
  BuildConfig config = plain({"*"});
  config.input_formats["w"].dtype = DType::f16, config.input_formats["b"].dtype = DType::i8;
  const Engine engine = built(model(), config);
  const auto context = engine.create_context();
  expect_values(context->run({x(), {}, {}})[0], {2, 2}, {11, 22, 13, 24});
  expect_values(context->run({x(), {}, numbers(DType::i8, {2}, {-1, 1})})[0], {2, 2}, {0, 3, 2, 5});
}

TEST(OptionalInputs, OfTheCallers) {
  Network net;
  const auto a = net.input("a", DType::f32, {3}), b = net.input("b", DType::f32, {3});
  net.mark_output(net.elementwise(Elementwise::sum, a, b), "y");
  BuildConfig config = plain();
  config.input_defaults["b"] = floats({3}, {1, 2, 3});
  const auto context = build(net, config).create_context();
  expect_values(context->run({floats({3}, {1, 1, 1}), {}})[0], {3}, {2, 3, 4});
  EXPECT_THROW(context->run({Tensor(), {}}), Error) << "a has no default";
}

template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument) << e.what();
    return e.what();
  }
  return "nothing was refused";
}

TEST(OptionalInputs, WhatMakesNoSenseIsRefused) {
  const std::string unknown = refusal([] { built(model(), plain({"c"})); });
  EXPECT_NE(unknown.find("'c' is to be overridable"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("'b', 'w'"), std::string::npos) << unknown;
  BuildConfig config = plain();
  config.input_defaults["x"] = floats({2}, {1, 2});
  const std::string shape = refusal([&] { built(model(), config); });
  EXPECT_NE(shape.find("input 'x' is f32[2,2], its default is f32[2]"), std::string::npos) << shape;
  config.input_defaults = {{"z", floats({2}, {1, 2})}};
  EXPECT_NE(refusal([&] { built(model(), config); }).find("'z', which is no input"), std::string::npos);
  Network net;
  net.mark_output(net.unary(Unary::neg, net.input("a", DType::f32, {"batch"})), "y");
  config.input_defaults = {{"a", floats({2}, {1, 2})}};
  EXPECT_NE(refusal([&] { build(net, config); }).find("fixed shape"), std::string::npos);
  EXPECT_NE(refusal([&] { build(net, plain({"*"})); }).find("input_defaults"), std::string::npos);
}

}  // namespace
}  // namespace tenfold
