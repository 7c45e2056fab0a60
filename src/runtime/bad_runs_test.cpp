// What a caller can do wrong at run time ends in a status with words for it, and the context works on afterwards.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold {
namespace {

ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

// y = x * w, batch 1 to 4; z must have x's batch.
class BadRuns : public testing::Test {
 protected:
  static Engine build() {
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1;
    config.profiles = {{{"x", {{1, 6}, {2, 6}, {4, 6}}}, {"z", {{1, 4}, {2, 4}, {4, 4}}}}};
    return builder::build_graph(parse("(x f32[batch,6], z f32[batch,4], w f32[6,4]!)\n t = MatMul(x, w)\n y = Add(t, z)"), config);
  }
  void TearDown() override {
    const Tensor x = ops::random_tensor(DType::f32, {3, 6}, 1), z = ops::random_tensor(DType::f32, {3, 4}, 2);
    EXPECT_EQ(context->run({x, z}).at(0).shape(), (Shape{3, 4})) << "the context is of no use after a refusal";
  }
  void expect(Status status, Status::Code code, const std::string& words) {
    EXPECT_EQ(status.code, code);
    EXPECT_NE(context->describe(status).find(words), std::string::npos)
        << "wanted '" << words << "', got '" << context->describe(status) << "'";
  }
  void expect_thrown(const std::vector<Tensor>& inputs, const std::string& words) {
    try {
      context->run(inputs);
      ADD_FAILURE() << "wanted '" << words << "'";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << "wanted '" << words << "', got '" << e.what() << "'";
    }
  }
  Status set(int binding, const Shape& shape) { return context->set_input_shape(binding, shape); }
  void bind_all(std::int64_t batch) {
    ASSERT_TRUE(set(0, {batch, 6}) && set(1, {batch, 4}));
    for (int b = 0; b < 3; ++b) context->own_memory(b);
  }

  Engine engine = build();
  std::unique_ptr<ExecutionContext> context = engine.create_context();
};

TEST_F(BadRuns, MissingInputs) {
  expect(context->run(), Status::not_ready, "input 'x': ");
  bind_all(2);
  EXPECT_TRUE(context->run());
  expect_thrown({ops::random_tensor(DType::f32, {2, 6}, 1)}, "2 inputs, 1 given");
  EXPECT_THROW(engine.binding_index("v"), Error);
}

TEST_F(BadRuns, TypesAndShapes) {
  const Tensor z = ops::random_tensor(DType::f32, {2, 4}, 2);
  expect_thrown({ops::random_tensor(DType::f64, {2, 6}, 1), z}, "input 'x' is f32, f64 given");
  expect_thrown({ops::random_tensor(DType::f32, {2, 5}, 1), z}, "2x5");
  expect_thrown({ops::random_tensor(DType::f32, {2, 6, 1}, 1), z}, "2x6x1");
  expect_thrown({ops::random_tensor(DType::f32, {3, 6}, 1), z}, "disagrees with the shapes of other inputs");
  bind_all(2);
  EXPECT_TRUE(context->run());
  expect(set(0, {2, 5}), Status::invalid_shape, "declared as -1x6");
  expect(set(0, {2}), Status::invalid_shape, "declared as -1x6");
  expect(set(0, {-2, 6}), Status::invalid_shape, "declared as -1x6");
  expect(set(7, {2, 6}), Status::invalid_binding, "binding");
  expect(set(2, {2, 4}), Status::invalid_binding, "output 'y'");
}

TEST_F(BadRuns, OutsideTheProfile) {
  bind_all(2);
  EXPECT_TRUE(context->run());
  for (const std::int64_t batch : {std::int64_t{0}, std::int64_t{5}, std::int64_t{1} << 40, INT64_MAX}) {
    EXPECT_TRUE(set(0, {batch, 6}) && set(1, {batch, 4}));
    expect(context->run(), Status::invalid_shape, "outside every profile: 1..4x");
  }
  EXPECT_FALSE(context->set_profile(3));
}

TEST_F(BadRuns, Memory) {
  std::vector<float> x(12), y(8);
  ASSERT_TRUE(set(0, {2, 6}) && set(1, {2, 4}));
  context->own_memory(1);
  expect(context->run(), Status::not_ready, "input 'x'");
  EXPECT_TRUE(context->bind(0, x.data(), 47));  // a byte short
  EXPECT_TRUE(context->bind(2, y.data(), 32));
  expect(context->run(), Status::invalid_binding, "input 'x'");
  EXPECT_TRUE(context->bind(0, x.data(), 48));
  EXPECT_TRUE(context->bind(2, y.data(), 31));
  expect(context->run(), Status::invalid_binding, "output 'y'");
  EXPECT_TRUE(context->bind(2, y.data(), 32));
  EXPECT_TRUE(context->run());
  expect(context->bind(-1, y.data(), 32), Status::invalid_binding, "binding");
  expect(context->bind(3, y.data(), 32), Status::invalid_binding, "binding");
}

TEST(BadData, IndicesOutsideTheirTensor) {
  BuildConfig config;
  config.optimization_level = 0;
  for (const char* text : {"(x f32[3,4], i i64[2])\n y = Gather(x, i)", "(x f32[3,4], i i64[2])\n e = GatherND(x, i)\n y = Relu(e)"}) {
    const auto context = builder::build_graph(parse(text), config).create_context();
    for (const std::int64_t index : {std::int64_t{3}, std::int64_t{-4}, INT64_MAX, INT64_MIN}) {
      Tensor i(DType::i64, {2});
      i.mutable_data<std::int64_t>()[0] = index, i.mutable_data<std::int64_t>()[1] = 0;
      EXPECT_THROW(context->run({ops::random_tensor(DType::f32, {3, 4}, 1), i}), Error) << text << " with " << index;
    }
  }
}

}  // namespace
}  // namespace tenfold
