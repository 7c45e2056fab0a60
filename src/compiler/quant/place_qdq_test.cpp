// Where Q/DQ go, and that a graph with them computes nearly the same.
#include "quant/place_qdq.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "quant/weights/channels.h"

namespace tenfold::quant {
namespace {

Tensor constant(DType dtype, const Shape& shape, std::uint64_t seed) { return ops::random_tensor(dtype, shape, seed, -0.1, 0.1); }
ir::Graph parse(std::string_view text) { return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = constant}); }

Ranges of_all(const ir::Graph& graph, double low, double high) {
  Ranges ranges;
  for (const std::string& name : values_to_observe(graph, {})) ranges[name] = {low, high};
  return ranges;
}

int count(const ir::Graph& graph, std::string_view op) {
  int n = 0;
  for (const auto& node : graph.nodes()) n += node->op() == op;
  return n;
}

double relative_difference(const ir::Graph& a, const ir::Graph& b) {
  std::vector<ops::RuntimeValue> inputs;
  for (const ir::Value* v : a.inputs) inputs.emplace_back(ops::random_tensor(v->dtype(), ir::constants(v->dims()), inputs.size() + 1));
  const Tensor x = ops::run_graph(a, inputs)[0].tensor(), y = ops::run_graph(b, inputs)[0].tensor();
  double error = 0, size = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) error += std::pow(x.as_double(i) - y.as_double(i), 2), size += std::pow(x.as_double(i), 2);
  return std::sqrt(error / size);
}

constexpr const char* kResidual = R"((x f32[1,16,6,6])
 w = constant f32[16,16,3,3]
 v = constant f32[16,16,1,1]
 a = Conv(x, w) kernel_shape=[3,3] pads=[1,1,1,1]
 b = Relu(a)
 c = Conv(b, v) kernel_shape=[1,1]
 d = Add(c, b)
 e = Relu(d)
 y = Conv(e, v) kernel_shape=[1,1]
)";

TEST(PlaceQdq, EveryOperandOnceAndResidualsToo) {
  const ir::Graph plain = parse(kResidual);
  ir::Graph graph = plain.clone();
  EXPECT_EQ(values_to_observe(graph, {}), (std::set<std::string>{"x", "b", "e"}));
  ASSERT_TRUE(place_qdq(graph, {{"x", {-1, 1}}, {"b", {0, 2}}, {"e", {0, 2.5}}}, {}));
  ir::verify(graph);
  EXPECT_EQ(count(graph, "QuantizeLinear"), 3);
  EXPECT_EQ(count(graph, "DequantizeLinear"), 3 + 2);   // of two weights, one of which two convolutions read
  for (const auto& node : graph.nodes())
    if (node->op() == "Add") {
      EXPECT_EQ(node->in(1)->producer->op(), "DequantizeLinear") << "the residual is read as bytes";
    }
  EXPECT_LT(relative_difference(plain, graph), 0.03);
}

// A block whose shortcut is a convolution: what that gives lies in memory between them, what the block's last product gives does not.
TEST(PlaceQdq, ShortcutsAreBytesWhereTheDeviceTakesThem) {
  const ir::Graph plain = parse(R"((x f32[1,16,6,6])
   w = constant f32[16,16,3,3]
   v = constant f32[16,16,1,1]
   a = Conv(x, w) kernel_shape=[3,3] pads=[1,1,1,1]
   b = Relu(a)
   c = Conv(b, v) kernel_shape=[1,1]
   s = Conv(x, v) kernel_shape=[1,1]
   d = Add(c, s)
   e = Relu(d)
   y = Conv(e, v) kernel_shape=[1,1]
  )");
  const Ranges ranges{{"x", {-1, 1}}, {"b", {0, 2}}, {"e", {0, 2.5}}, {"s", {-1, 1.5}}};
  ir::Graph wide = plain.clone(), graph = plain.clone();
  EXPECT_EQ(values_to_observe(graph, {}).count("s"), 0u);
  EXPECT_EQ(values_to_observe(graph, {.shortcuts = true}).count("s"), 1u);
  ASSERT_TRUE(place_qdq(wide, ranges, {}));
  EXPECT_EQ(count(wide, "QuantizeLinear"), 3);
  ASSERT_TRUE(place_qdq(graph, ranges, {.activations = Activations::unsigned_if_never_negative, .shortcuts = true}));
  ir::verify(graph);
  EXPECT_EQ(count(graph, "QuantizeLinear"), 4);
  for (const auto& node : graph.nodes())
    if (node->op() == "Add") {
      EXPECT_EQ(node->in(0)->producer->op(), "Conv") << "the block's own product is not rounded";
      EXPECT_EQ(node->in(1)->producer->op(), "DequantizeLinear");
    }
  EXPECT_LT(relative_difference(plain, graph), 0.03);
}

TEST(PlaceQdq, ZeroPointsWhereTheDeviceGainsByThem) {
  for (const bool zero_points : {true, false}) {
    ir::Graph graph = parse(kResidual);
    const Placing placing{.activations = zero_points ? Activations::unsigned_bytes : Activations::unsigned_if_never_negative};
    ASSERT_TRUE(place_qdq(graph, {{"x", {-0.5, 1}}, {"b", {0, 1}}}, placing));
    for (const auto& node : graph.nodes()) {
      if (node->op() != "QuantizeLinear") continue;
      const Tensor &scale = node->in(1)->constant->tensor, &zero = node->in(2)->constant->tensor;
      if (node->in(0)->name == "b") {
        EXPECT_EQ(zero.dtype(), DType::u8);
        EXPECT_EQ(zero.as_int(0), 0);
        EXPECT_FLOAT_EQ(*scale.data<float>(), 1.f / 255);
      } else {
        EXPECT_EQ(zero.dtype(), zero_points ? DType::u8 : DType::i8);
        EXPECT_EQ(zero.as_int(0), zero_points ? 85 : 0);
        EXPECT_FLOAT_EQ(*scale.data<float>(), zero_points ? 1.5f / 255 : 1.f / 127);
      }
    }
    EXPECT_EQ(count(graph, "QuantizeLinear"), 2);   // e has no range: its convolution stays as it is
  }
}

TEST(PlaceQdq, WhatMovesElementsMovesBytes) {
  ir::Graph graph = parse(R"((x f32[1,4,6,6], z f32[1,4,6,6])
 w = constant f32[8,8,1,1]
 a = Relu(x)
 b = Concat(a, z) axis=1
 c = MaxPool(b) kernel_shape=[2,2] strides=[2,2]
 y = Conv(c, w) kernel_shape=[1,1]
)");
  const ir::Graph plain = graph.clone();
  ASSERT_TRUE(place_qdq(graph, of_all(graph, -1, 1), {}));
  std::set<const ir::Value*> scales;
  for (const auto& node : graph.nodes()) {
    if (node->op() == "QuantizeLinear") scales.insert(node->in(1));
    if (node->op() != "Concat") continue;
    for (const ir::Value* v : node->inputs) EXPECT_EQ(v->producer->op(), "DequantizeLinear");
  }
  EXPECT_EQ(scales.size(), 1u) << "all alike, so that move_qdq makes them go away";
  EXPECT_LT(relative_difference(plain, graph), 0.03);
}

TEST(PlaceQdq, ProductsOfActivationsAndNormsStayWide) {
  ir::Graph graph = parse(R"((x f32[4,8], u f32[8,8])
 w = constant f32[8,8]
 a = MatMul(x, u)
 b = MatMul(a, w)
 c = Add(b, x)
 y = Softmax(c) axis=-1
)");
  ASSERT_TRUE(place_qdq(graph, {{"x", {-1, 1}}, {"a", {-3, 3}}, {"c", {-3, 3}}}, {}));
  EXPECT_EQ(count(graph, "QuantizeLinear"), 1);
  for (const auto& node : graph.nodes())
    if (node->op() == "Add" || node->op() == "Softmax") {
      for (const ir::Value* v : node->inputs) EXPECT_FALSE(v->producer && v->producer->op() == "DequantizeLinear");
    }
}

TEST(PlaceQdq, ProductsOfOneOperandInTwoTypesOfEightBits) {
  const ir::Graph plain = parse(R"((x f32[4,32])
 v = constant f32[32,8]
 w = constant f32[32,8]
 a = Gemm(x, v)
 b = Gemm(x, w)
 y = Add(a, b)
)");
  Ranges ranges = of_all(plain, -1, 1);
  ranges.corrections.biases["b"] = ranges.corrections.biases["a"] = std::vector<float>(8, 100);
  for (const bool float8 : {false, true}) {
    ir::Graph graph = plain.clone();
    const Placing placing{.float8 = float8, .other = [](const ir::Node& product) { return product.out()->name == "b"; }};
    ASSERT_TRUE(place_qdq(graph, ranges, placing));
    ir::verify(graph);
    EXPECT_EQ(count(graph, "QuantizeLinear"), 2);
    for (const auto& node : graph.nodes()) {
      if (node->op() != "Gemm") continue;
      const bool is_e4m3 = (node->out()->name == "b") != float8;
      for (int operand : {0, 1})
        EXPECT_EQ(node->in(operand)->producer->in(0)->dtype() == DType::f8e4m3fn, is_e4m3) << node->out()->name << operand;
    }
    const double off = relative_difference(plain, graph);
    EXPECT_GT(off, 10) << "the usual product takes its correction";
    ranges.corrections.biases.clear();
    graph = plain.clone();
    place_qdq(graph, ranges, placing);
    EXPECT_LT(relative_difference(plain, graph), 0.05);
    ranges.corrections.biases["b"] = std::vector<float>(8, 100);   // found for the usual type, and "b" has the other
    graph = plain.clone();
    place_qdq(graph, ranges, placing);
    EXPECT_LT(relative_difference(plain, graph), 0.05);
    ranges.corrections.biases["a"] = ranges.corrections.biases["b"];
  }
}

TEST(PlaceQdq, NothingWithoutRangesOrWhereTheDeviceTakesNothing) {
  ir::Graph graph = parse(kResidual);
  EXPECT_FALSE(place_qdq(graph, {}, {}));
  EXPECT_FALSE(place_qdq(graph, {{"x", {0, 0}}}, {}));
  const Placing none{.takes = [](const ir::Node&) { return false; }};
  EXPECT_FALSE(place_qdq(graph, {{"x", {-1, 1}}}, none));
  EXPECT_TRUE(values_to_observe(graph, none).empty());
}

TEST(PlaceQdq, RangesThatNoFloatScales) {
  for (const Range& range : {Range{0, 1e-40}, Range{-1e-38, 1e-38}, Range{-1e41, 1e41}, Range{0, 1e300}}) {
    ir::Graph graph = parse(kResidual);
    EXPECT_FALSE(place_qdq(graph, {{"x", range}}, {})) << range.low << " " << range.high;
  }
}

TEST(QuantizeWeights, DenormalsAreZeros) {
  Tensor w(DType::f32, {1, 4});
  for (std::int64_t i = 0; i < 4; ++i) w.mutable_data<float>()[i] = std::numeric_limits<float>::denorm_min() * static_cast<float>(i);
  const QuantizedWeights q = quantize_weights(w, 0);
  EXPECT_EQ(q.scales.data<float>()[0], 1);
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(q.values.data<std::int8_t>()[i], 0);
}

TEST(PlaceQdq, ALongChainOfConcatsIsWalkedOnce) {
  std::string text = "(x f32[1,1,2,2])\n w = constant f32[1,1,1,1]\n";
  std::string last = "x";
  constexpr int kNodes = 4000;   // walked anew from each of them it would be eight million steps
  for (int i = 0; i < kNodes; ++i) {
    text += " r" + std::to_string(i) + " = Reshape(" + last + ", s)\n y" + std::to_string(i) + " = Conv(r" + std::to_string(i) +
            ", w) kernel_shape=[1,1]\n";
    last = "r" + std::to_string(i);
  }
  const ir::Graph graph = parse(text.insert(text.find('\n') + 1, " s = i64[4]{1,1,2,2}\n"));
  EXPECT_EQ(values_to_observe(graph, {}).size(), kNodes + 1u);
}

TEST(QuantizeWeights, EachChannelHasItsOwnScaleAndZerosHaveOne) {
  Tensor w(DType::f32, {3, 2, 2});
  const float values[] = {1, -2, 0.5f, 0.25f, 0, 0, 0, 0, 1e-3f, -1e-3f, 5e-4f, 0};
  std::copy(std::begin(values), std::end(values), w.mutable_data<float>());
  const QuantizedWeights q = quantize_weights(w, 0);
  EXPECT_EQ(q.scales.data<float>()[1], 1);
  for (std::int64_t i = 0; i < w.size(); ++i) {
    const float scale = q.scales.data<float>()[i / 4];
    EXPECT_NEAR(static_cast<float>(q.values.data<std::int8_t>()[i]) * scale, values[i], 0.6f * scale) << i;
    EXPECT_GE(q.values.data<std::int8_t>()[i], -127);
  }
}

TEST(QuantizeWeights, AlongColumnsAsAlongRows) {
  const Tensor w = ops::random_tensor(DType::f32, {5, 3}, 7);
  Tensor turned(DType::f32, {3, 5});
  for (std::int64_t i = 0; i < 15; ++i) turned.mutable_data<float>()[i % 3 * 5 + i / 3] = w.data<float>()[i];
  const QuantizedWeights a = quantize_weights(w, 1), b = quantize_weights(turned, 0);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(a.scales.data<float>()[i], b.scales.data<float>()[i]);
  for (std::int64_t i = 0; i < 15; ++i) EXPECT_EQ(a.values.data<std::int8_t>()[i], b.values.data<std::int8_t>()[i % 3 * 5 + i / 3]);
}

}  // namespace
}  // namespace tenfold::quant
