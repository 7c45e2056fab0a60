// Scaled channels: the graph computes what it did, whoever takes the factors in.
#include "quant/scale_channels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "quant/channel_strength.h"

namespace tenfold::quant {
namespace {

Tensor constant(DType dtype, const Shape& shape, std::uint64_t seed) { return ops::random_tensor(dtype, shape, seed, -1, 1); }
ir::Graph parse(std::string_view text) { return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = constant}); }
int count(const ir::Graph& graph, std::string_view op) {
  int n = 0;
  for (const auto& node : graph.nodes()) n += node->op() == op;
  return n;
}
const ir::Value& value(const ir::Graph& graph, std::string_view name) {
  for (const auto& v : graph.values())
    if (v->name == name) return *v;
  throw std::out_of_range(std::string(name));
}

std::vector<float> factors(std::size_t channels) {
  std::vector<float> f;
  for (std::size_t c = 0; c < channels; ++c) f.push_back(0.25F * static_cast<float>(c % 7 + 1));
  return f;
}

// The largest difference, and how many Mul were put in.
void expect_same(const ir::Graph& plain, const std::string& name, std::size_t channels, MadeBy by, int multiplications) {
  EXPECT_EQ(made_by(plain, value(plain, name)), by);
  ir::Graph scaled = plain.clone();
  ASSERT_TRUE(scale_channels(scaled, {{name, factors(channels)}}));
  ir::verify(scaled);
  EXPECT_EQ(count(scaled, "Mul"), multiplications);
  std::vector<ops::RuntimeValue> inputs;
  for (const ir::Value* v : plain.inputs) inputs.emplace_back(ops::random_tensor(v->dtype(), ir::constants(v->dims()), 5));
  const Tensor x = ops::run_graph(plain, inputs)[0].tensor(), y = ops::run_graph(scaled, inputs)[0].tensor();
  for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x.as_double(i), y.as_double(i), 2e-5) << i;
}

constexpr const char* kMobile = R"((x f32[2,3,7,7])
 u = constant f32[8,3,1,1]
 p = constant f32[8]
 v = constant f32[8,1,3,3]
 w = constant f32[4,8,1,1]
 a = Conv(x, u, p) kernel_shape=[1,1]
 b = Relu(a)
 c = Conv(b, v) kernel_shape=[3,3] pads=[1,1,1,1] group=8
 d = Relu(c)
 m = MaxPool(d) kernel_shape=[2,2]
 y = Conv(m, w) kernel_shape=[1,1])";

TEST(ScaleChannels, TheProductBeforeTakesThemIn) {
  const ir::Graph graph = parse(kMobile);
  expect_same(graph, "b", 8, MadeBy::product, 0);
  expect_same(graph, "m", 8, MadeBy::product, 0);
  expect_same(graph, "x", 3, MadeBy::other, 1);
}

TEST(ScaleChannels, GroupsOfSeveralChannels) {
  expect_same(parse(R"((x f32[1,4,5,5])
    u = constant f32[6,2,3,3]
    w = constant f32[4,3,1,1]
    a = Conv(x, u) kernel_shape=[3,3] group=2
    b = LeakyRelu(a) alpha=0.1
    y = Conv(b, w) kernel_shape=[1,1] group=2)"), "b", 6, MadeBy::product, 0);
}

TEST(ScaleChannels, AProductWithItsSumBehindIt) {
  expect_same(parse(R"((x f32[3,6])
    u = constant f32[6,8]
    p = constant f32[8]
    w = constant f32[5,8]
    a = MatMul(x, u)
    b = Add(a, p)
    c = Relu(b)
    y = Gemm(c, w) transB=1)"), "c", 8, MadeBy::product, 0);
}

constexpr const char* kNorm = R"((x f32[2,3,8])
  g = constant f32[8]
  h = constant f32[8]
  u = constant f32[8,4]
  w = constant f32[8,4]
  n = LayerNormalization(x, g, h) axis=-1
  a = MatMul(n, u)
  b = MatMul(n, w)
  y = Add(a, b))";

TEST(ScaleChannels, ANormTakesThemInUnlessOthersReadIt) {
  expect_same(parse(kNorm), "n", 8, MadeBy::norm, 0);
  std::string read(kNorm);
  read.replace(read.find("  y = Add(a, b)"), 15,
               "  s = constant f32[8,4]\n  e = Add(n, x)\n  d = MatMul(e, s)\n  c = Add(a, b)\n  y = Add(c, d)");
  expect_same(parse(read), "n", 8, MadeBy::other, 1);
}

TEST(ScaleChannels, WhatIsAnOutputStaysAsItIs) {
  const ir::Graph graph = parse(R"((x f32[3,6])
    u = constant f32[6,8]
    w = constant f32[8,5]
    a = MatMul(x, u)
    b = Relu(a)
    y = MatMul(b, w)
    return y, b)");
  expect_same(graph, "b", 8, MadeBy::other, 1);
}

// One channel that is a hundred times as wide as the others makes their steps a hundred times as large.
TEST(ScaleChannels, AWideChannelIsNarrowed) {
  const ir::Graph graph = parse("(x f32[4,8])\n w = constant f32[8,6]\n y = MatMul(x, w)");
  const DataOperands operands = data_operands(graph, {});
  Tensor x = ops::random_tensor(DType::f32, {200, 8}, 3, -1, 1);
  for (std::int64_t r = 0; r < 200; ++r) x.mutable_data<float>()[r * 8 + 5] *= 100;
  ChannelStats stats;
  stats.add(x.data<float>(), operands.at("x").view(x));
  EXPECT_EQ(stats.count, 200);
  const Strength best = best_strength(operands.at("x"), stats, true);
  ASSERT_EQ(best.factors.size(), 8u);
  EXPECT_LT(best.factors[5], 0.2F * best.factors[0]);
  EXPECT_LT(best.after, 0.2 * best.before);   // what is left is of the weights
}

}  // namespace
}  // namespace tenfold::quant
