// The first test to read: a graph written as text is built into an engine, run, and compared with the reference kernels.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold {
namespace {

Tensor random_constant(DType dtype, const Shape& shape, std::uint64_t seed) { return ops::random_tensor(dtype, shape, seed); }

void expect_close(const Tensor& got, const Tensor& expected, double tolerance) {
  ASSERT_EQ(got.shape(), expected.shape());
  double largest = 1e-30, worst = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected.as_double(i)));
    worst = std::max(worst, std::abs(expected.as_double(i) - got.as_double(i)));
  }
  EXPECT_LE(worst, tolerance * largest);
}

// Builds `text`, runs it on random inputs of the given shapes, and compares every output with the interpreter's.
void check_graph(const char* text, const std::vector<Shape>& shapes, BuildConfig config = {}) {
  const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = random_constant});
  std::vector<Tensor> inputs;
  std::vector<ops::RuntimeValue> values;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    inputs.push_back(ops::random_tensor(graph.inputs[i]->dtype(), shapes[i], 100 + i));
    values.emplace_back(inputs.back());
  }
  const Engine engine = builder::build_graph(graph, config);
  const std::vector<Tensor> got = engine.create_context()->run(inputs);
  const std::vector<ops::RuntimeValue> expected = ops::run_graph(graph, values);
  ASSERT_EQ(got.size(), expected.size());
  const double tolerance = config.random_choices ? 5e-5 : 1e-5;   // chosen at random, a kernel may round; timed, not in so small a graph
  for (std::size_t i = 0; i < got.size(); ++i) expect_close(got[i], std::get<Tensor>(expected[i]), tolerance);
}

TEST(Tiny, Pointwise) {
  check_graph(R"((x f32[4,8], b f32[8]!)
    s = Add(x, b)
    y = Relu(s))", {{4, 8}});
}

TEST(Tiny, SymbolicBatch) {
  BuildConfig config;
  config.profiles = {{{"x", {{1, 16}, {2, 16}, {8, 16}}}}};
  check_graph(R"((x f32[batch,16], w f32[16,5]!, b f32[5]!)
    t = MatMul(x, w)
    u = Add(t, b)
    y = Sigmoid(u))", {{3, 16}}, config);
}

// One column: channels-last order is then plain order under another name, and the reshape's result lies in the same memory.
TEST(Tiny, ReshapeOfOneColumn) {
  BuildConfig config;
  for (config.random_choices = 1; config.random_choices <= 12; ++config.random_choices)
    check_graph(R"((x f32[1,8,1], w f32[16,8,1]!, v f32[16,4]!)
      shape = i64[3]{1,1,16}
      t = Conv(x, w)
      u = Relu(t)
      r = Reshape(u, shape)
      y = MatMul(r, v))", {{1, 8, 1}}, config);
}

// The product writes into the join: its rows are one apart inside an image and 32 apart between images.
TEST(Tiny, ProductIntoJoinOfColumns) {
  BuildConfig config;
  for (config.random_choices = 1; config.random_choices <= 6; ++config.random_choices)
    check_graph(R"((x f32[5,1,16,1], w f32[1,1]!)
      t = Relu(x)
      u = MatMul(t, w)
      y = Concat(t, u) axis=2)", {{5, 1, 16, 1}}, config);
}

TEST(Tiny, BranchTakesOneSide) {
  const char* text = R"((c bool[], x f32[2,3])
    y = If(c, x) graphs=[
      (a f32[2,3])
        r = Exp(a)
        return r
      (a f32[2,3])
        r = Neg(a)
        return r
    ])";
  check_graph(text, {{}, {2, 3}});
}

TEST(Tiny, ViewsMoveNothing) {
  check_graph(R"((x f32[2,6,4])
    shape = i64[3]{2,3,8}
    r = Reshape(x, shape)
    t = Transpose(r) perm=[0,2,1]
    y = Relu(t))", {{2, 6, 4}});
}

}  // namespace
}  // namespace tenfold
