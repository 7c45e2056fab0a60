// Networks read from ONNX, walked, edited and built; the truth is arithmetic.
#include <chrono>
#include <fstream>

#include "api_build/network_for_tests.h"
#include "tenfold/error.h"

namespace tenfold {
namespace {

// y = relu(x) for x f32[3].
Network relu() { return Network::read(std::string(TENFOLD_SOURCE_DIR "/tests/install/relu.onnx"), {}); }

template <class Act>
std::string refused(Act act) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

TEST(NetworkEdit, AModelIsWalked) {
  const Network net = relu();
  ASSERT_EQ(net.nodes().size(), 1u);
  const NetworkNodeInfo node = net.node(net.nodes()[0]);
  EXPECT_FALSE(node.name.empty());
  EXPECT_EQ(node.op, "Relu");
  EXPECT_EQ(node.domain, "");
  ASSERT_EQ(node.inputs.size(), 1u);
  EXPECT_EQ(net.name(node.inputs[0]), "x");
  EXPECT_EQ(net.name(net.outputs().at(0)), "y");
  EXPECT_EQ(net.find("x").index, net.inputs().at(0).index);
  EXPECT_FALSE(net.find("z").defined());
  EXPECT_FALSE(net.producer(node.inputs[0]).defined());
  EXPECT_EQ(net.producer(net.find("y")), net.nodes()[0]);
  EXPECT_EQ(net.users(net.find("x")), net.nodes());
}

TEST(NetworkEdit, ANodeIsPutIn) {   // y = relu(2 x) + 1
  Network net = relu();
  const NetworkNodeRef node = net.nodes()[0];
  const NetworkTensor twice = net.elementwise(Elementwise::prod, net.find("x"), net.constant(floats({1}, {2})));
  net.set_input(node, 0, twice);
  const NetworkTensor more = net.elementwise(Elementwise::sum, net.find("y"), net.constant(floats({1}, {1})));
  net.replace(net.find("y"), more);
  EXPECT_EQ(net.name(net.outputs().at(0)), "y");
  expect_values(build_and_run(net, {floats({3}, {-1, 0, 2})})[0], {3}, {1, 1, 5});
}

TEST(NetworkEdit, ANodeIsTakenOut) {   // y = x
  Network net = relu();
  const NetworkNodeRef node = net.nodes()[0];
  EXPECT_NE(refused([&] { net.remove(node); }).find("is used"), std::string::npos);
  net.replace(net.find("y"), net.find("x"));
  net.remove(node);
  EXPECT_NE(refused([&] { net.node(node); }).find("removed"), std::string::npos);
  expect_values(build_and_run(net, {floats({3}, {-1, 0, 2})})[0], {3}, {-1, 0, 2});
}

TEST(NetworkEdit, NamesChange) {
  Network net = relu();
  net.rename(net.nodes()[0], "r");
  net.rename(net.find("x"), "in");
  net.rename(net.find("y"), "out");
  refused([&] { net.rename(net.find("in"), "out"); });
  const Engine engine = build(net, {.optimization_level = 0});
  EXPECT_EQ(engine.bindings()[0].name, "in");
  EXPECT_EQ(engine.bindings()[1].name, "out");
  EXPECT_EQ(net.node(net.nodes()[0]).name, "r");
}

// Looking at every value for each name would take minutes here.
TEST(NetworkEdit, NamesOfManyValuesAreFoundAtOnce) {
  constexpr int kMany = 100000;
  Network net;
  const NetworkTensor x = net.input("x", DType::f32, {1});
  std::vector<NetworkTensor> all;
  for (int i = 0; i < kMany; ++i) all.push_back(net.unary(Unary::neg, x));
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kMany; ++i) net.rename(all[static_cast<std::size_t>(i)], "named_" + std::to_string(i));
  for (int i = 0; i < kMany; ++i)
    ASSERT_EQ(net.find("named_" + std::to_string(i)).index, all[static_cast<std::size_t>(i)].index);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_NE(refused([&] { net.rename(all[7], "named_8"); }).find("named_8"), std::string::npos);
  net.rename(all[8], "other");
  net.rename(all[7], "named_8");   // which is free now
  EXPECT_EQ(net.find("named_8").index, all[7].index);
  EXPECT_FALSE(net.find("named_7").defined());
  net.mark_output(all[9], "named_10");   // what has that name loses it
  EXPECT_EQ(net.name(net.outputs()[0]), "named_10");
  EXPECT_NE(net.name(all[10]), "named_10");
  EXPECT_EQ(net.find(net.name(all[10])).index, all[10].index);
}

TEST(NetworkEdit, AWeightIsRefittedByItsNewName) {
  Network net;
  const NetworkTensor w = net.constant(floats({2, 2}, {1, 0, 0, 1}), "w");
  net.mark_output(net.matrix_multiply(net.input("x", DType::f32, {1, 2}), w), "y");
  net.rename(w, "mine");
  const Engine engine = build(net, {.optimization_level = 0, .refittable = true});
  ASSERT_EQ(engine.refittable_weights().size(), 1u);
  EXPECT_EQ(engine.refittable_weights()[0].name, "mine");
  const Engine other = engine.refit({{"mine", floats({2, 2}, {2, 0, 0, 3})}});
  expect_values(other.create_context()->run({floats({1, 2}, {1, 10})})[0], {1, 2}, {2, 30});
}

TEST(NetworkEdit, WhatFollowsFromAnAttributeIsInferred) {
  Network net;
  const NetworkTensor x = net.input("x", DType::f32, {2, 3});
  const NetworkTensor t = net.add_node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}})[0];
  net.mark_output(net.unary(Unary::neg, t), "y");
  EXPECT_EQ(net.describe(net.find("y")), "f32[3,2]");
  const NetworkNodeRef node = net.producer(t);
  net.set_attribute(node, "perm", std::vector<std::int64_t>{0, 1});
  EXPECT_EQ(net.describe(net.find("y")), "f32[2,3]");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(net.node(node).attributes.at("perm")), (std::vector<std::int64_t>{0, 1}));
  refused([&] { net.set_attribute(node, "perm", std::vector<std::int64_t>{0, 7}); });
  EXPECT_EQ(net.describe(net.find("y")), "f32[2,3]") << "a refused change is taken back";
  net.remove_attribute(node, "perm");
  EXPECT_EQ(net.describe(net.find("y")), "f32[3,2]");
}

TEST(NetworkEdit, ConstantsChange) {
  Network net;
  const NetworkTensor w = net.constant(floats({2, 2}, {1, 0, 0, 1}), "w");
  net.mark_output(net.matrix_multiply(net.input("x", DType::f32, {1, 2}), w), "y");
  EXPECT_EQ(net.constant_value(w)->as_double(3), 1);
  net.set_constant(w, floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(net.describe(net.find("y")), "f32[1,3]");
  refused([&] { net.set_constant(w, floats({5}, {1, 2, 3, 4, 5})); });
  expect_values(build_and_run(net, {floats({1, 2}, {1, 10})})[0], {1, 3}, {41, 52, 63});
}

TEST(NetworkEdit, CirclesAndStrangersAreRefused) {
  Network net = relu(), other = relu();
  const NetworkNodeRef node = net.nodes()[0];
  EXPECT_NE(refused([&] { net.set_input(node, 0, net.find("y")); }).find("itself"), std::string::npos);
  refused([&] { net.set_input(node, 1, net.find("x")); });
  refused([&] { net.node(other.nodes()[0]); });
  refused([&] { net.remove_input("x"); });
  refused([&] { net.remove_output("z"); });
}

TEST(NetworkEdit, UnusedNodesAndOutputsGo) {
  Network net = relu();
  net.mark_output(net.unary(Unary::exp, net.unary(Unary::neg, net.find("x"))), "z");
  net.remove_output("z");
  EXPECT_EQ(net.remove_unused(), 2);
  EXPECT_EQ(net.nodes().size(), 1u);
  expect_values(build_and_run(net, {floats({3}, {-1, 0, 2})})[0], {3}, {0, 0, 2});
}

TEST(NetworkEdit, NodesOfOtherDomains) {   // com.microsoft's FusedMatMul: alpha a b
  Network net;
  const NetworkTensor x = net.input("x", DType::f32, {1, 2});
  const NetworkTensor w = net.constant(floats({2, 1}, {3, 4}));
  const NetworkTensor y = net.add_node("FusedMatMul", {x, w}, {{"alpha", 0.5f}}, 1, "", "com.microsoft")[0];
  net.mark_output(y, "y");
  expect_values(build_and_run(net, {floats({1, 2}, {2, 10})})[0], {1, 1}, {23});
}

TEST(ModelBindings, WithoutABuild) {
  const std::vector<BindingInfo> list = model_bindings(std::string(TENFOLD_SOURCE_DIR "/tests/install/relu.onnx"));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].name, "x");
  EXPECT_EQ(list[0].shape, Shape{3});
  EXPECT_TRUE(list[0].is_input);
  EXPECT_EQ(list[1].name, "y");
  EXPECT_FALSE(list[1].is_input);
}

}  // namespace
}  // namespace tenfold
