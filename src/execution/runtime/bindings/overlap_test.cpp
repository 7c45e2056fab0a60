// Bindings that share memory: what the plan allows in place is right, all else is refused with both names.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold {
namespace {

struct Built {
  explicit Built(const char* text)
      : graph(ir::parse_graph(text, ir::Registry::builtin(),
                              {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }})) {
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1;
    engine = std::make_unique<Engine>(builder::build_graph(graph, config));
    context = engine->create_context();
  }
  Status bind(int binding, void* memory, std::int64_t bytes) { return context->bind(binding, memory, bytes); }
  ir::Graph graph;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<ExecutionContext> context;
};

void expect_refused(Built& b, int output, const char* both, const char* other) {
  for (int again = 0; again < 2; ++again) {
    const Status status = b.context->run();
    EXPECT_EQ(status, (Status{Status::invalid_binding, output}));
    const std::string words = b.context->describe(status);
    EXPECT_NE(words.find(both), std::string::npos) << words;
    EXPECT_NE(words.find(other), std::string::npos) << words;
  }
}

TEST(Overlap, TwoOutputsAreRefused) {
  Built b("(x f32[16])\n y = Relu(x)\n z = Neg(x)\n return y, z");
  std::vector<float> x(16, -1), memory(32);
  ASSERT_TRUE(b.bind(0, x.data(), 64) && b.bind(1, memory.data(), 64) && b.bind(2, memory.data() + 15, 64));
  expect_refused(b, 2, "output 'z'", "output 'y'");
  ASSERT_TRUE(b.bind(2, memory.data() + 16, 64));
  EXPECT_TRUE(b.context->run());
  EXPECT_EQ(memory[0], 0);
  EXPECT_EQ(memory[16], 1);
}

// Each row of the product reads the whole of x.
TEST(Overlap, AnOutputOverAnInputThatIsStillReadIsRefused) {
  Built b("(x f32[4,4], w f32[4,4]!)\n y = MatMul(x, w)");
  std::vector<float> memory(32, 1);
  for (const int shift : {0, 1, 15}) {
    ASSERT_TRUE(b.bind(0, memory.data() + shift, 64) && b.bind(1, memory.data(), 64));
    expect_refused(b, 1, "output 'y'", "input 'x'");
    ASSERT_TRUE(b.bind(0, memory.data(), 64) && b.bind(1, memory.data() + shift, 64));
    expect_refused(b, 1, "output 'y'", "input 'x'");
  }
  ASSERT_TRUE(b.bind(0, memory.data() + 16, 64) && b.bind(1, memory.data(), 64));
  EXPECT_TRUE(b.context->run());
  const Tensor x = ops::random_tensor(DType::f32, {4, 4}, 1);
  EXPECT_NO_THROW(b.context->run({x})) << "the context is of no use after a refusal";
}

void expect_in_place(Built& b, int input, const std::vector<Tensor>& inputs) {
  const Tensor expected = std::get<Tensor>(ops::run_graph(b.graph, std::vector<ops::RuntimeValue>(inputs.begin(), inputs.end())).at(0));
  std::vector<Tensor> memory;
  for (const Tensor& t : inputs) memory.push_back(t.clone());
  for (std::size_t i = 0; i < memory.size(); ++i)
    ASSERT_TRUE(b.bind(static_cast<int>(i), memory[i].mutable_raw(), memory[i].bytes()));
  Tensor& place = memory[static_cast<std::size_t>(input)];
  ASSERT_TRUE(b.bind(static_cast<int>(memory.size()), place.mutable_raw(), place.bytes()));
  const Status status = b.context->run();
  ASSERT_TRUE(status) << b.context->describe(status);
  for (std::int64_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(place.as_double(i), expected.as_double(i), 1e-5) << i;
}

TEST(Overlap, InPlaceWhereTheTacticMay) {
  Built b("(x f32[4,32], z f32[4,32])\n y = Add(x, z)");
  const Tensor x = ops::random_tensor(DType::f32, {4, 32}, 1), z = ops::random_tensor(DType::f32, {4, 32}, 2);
  expect_in_place(b, 0, {x, z});
  expect_in_place(b, 1, {x, z});
  Tensor memory(DType::f32, {260});
  ASSERT_TRUE(b.bind(0, memory.mutable_raw(), 512) && b.bind(2, memory.mutable_data<float>() + 4, 512));
  expect_refused(b, 2, "output 'y'", "input 'x'");   // not element for element
}

// x is read by the first product alone, y written by the last.
TEST(Overlap, AnInputThatIsReadNoMoreMayBeWrittenOver) {
  Built b("(x f32[8,8], w f32[8,8]!)\n a = MatMul(x, w)\n s = Softmax(a)\n y = MatMul(s, w)");
  ASSERT_GE(b.engine->info().steps, 2);
  expect_in_place(b, 0, {ops::random_tensor(DType::f32, {8, 8}, 1)});
}

TEST(Overlap, InputsMayShareAndEmptyOnesTakeNothing) {
  Built b("(x f32[8], z f32[8])\n y = Sub(x, z)");
  std::vector<float> x(8, 3), y(8, 1);
  ASSERT_TRUE(b.bind(0, x.data(), 32) && b.bind(1, x.data(), 32) && b.bind(2, y.data(), 32));
  EXPECT_TRUE(b.context->run());
  EXPECT_EQ(y[3], 0);
}

// Where the sizes of shapes set leave room, larger memory may be promised than is used.
TEST(Overlap, OnlyBytesInUseCount) {
  const ir::Graph graph = ir::parse_graph("(x f32[n])\n y = Relu(x)\n z = Neg(x)\n return y, z", ir::Registry::builtin());
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  config.profiles = {{{"x", {{1}, {4}, {8}}}}};
  const auto context = builder::build_graph(graph, config).create_context();
  std::vector<float> x(8, -2), memory(12);
  ASSERT_TRUE(context->bind(0, x.data(), 32) && context->bind(1, memory.data(), 32) && context->bind(2, memory.data() + 4, 32));
  ASSERT_TRUE(context->set_input_shape(0, Shape{4}));
  EXPECT_TRUE(context->run());
  ASSERT_TRUE(context->set_input_shape(0, Shape{5}));
  EXPECT_EQ(context->run(), (Status{Status::invalid_binding, 2}));
}

}  // namespace
}  // namespace tenfold
