// Bindings beyond plain memory: strides, state from run to run, allocators; on the CPU and on a device with memory of its own.
#include "tenfold/bindings.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "builder/builder.h"
#include "builder/open_built.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "runtime/context.h"
#include "runtime/device/far_backend_for_tests.h"

namespace tenfold {
namespace {

using runtime::FarBackend;

// Each test on both: bindings lie in the host's memory.
class Bindings : public testing::TestWithParam<bool> {
 protected:
  Engine build(const char* text, std::vector<OptimizationProfile> profiles = {}) {
    const ir::Graph graph =
        ir::parse_graph(text, ir::Registry::builtin(),
                        {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1, config.profiles = std::move(profiles);
    if (!GetParam()) return builder::build_graph(graph, config);
    const auto backend = std::make_shared<FarBackend>();
    BuildReport report;
    plan::Plan plan = builder::build_plan(graph, config, "", backend, report);
    return builder::open_built(std::move(plan), config, backend);
  }
  static void expect_ok(const ExecutionContext& context, Status status) { EXPECT_TRUE(status) << context.describe(status); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Bindings, testing::Bool(), [](const auto& info) { return info.param ? "far" : "cpu"; });

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.f);
  return values;
}

TEST_P(Bindings, ChannelsLastAndRegionsOfLargerArrays) {
  const Engine engine = build("(x f32[1,3,2,2])\n y = Neg(x)");
  const auto context = engine.create_context();
  const std::vector<float> pixels = counted(12);   // two rows of two pixels of three channels
  std::vector<float> plane(8 * 8, 77);             // y's channels as three columns of a larger matrix
  const std::array<std::int64_t, 4> last{12, 1, 6, 3}, columns{64, 2, 8, 16};
  ASSERT_TRUE(bind_strided(*context, 0, const_cast<float*>(pixels.data()), 48, last));
  ASSERT_TRUE(bind_strided(*context, 1, plane.data(), 256, columns));
  for (int again = 0; again < 3; ++again) {
    expect_ok(*context, context->run());
    EXPECT_TRUE(copied_at_border(*context, 0) && copied_at_border(*context, 1));
  }
  std::size_t written = 0;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t w = 0; w < 2; ++w, ++written) EXPECT_EQ(plane[c * 2 + h * 8 + w * 16], -pixels[c + h * 6 + w * 3]);
  EXPECT_EQ(std::count(plane.begin(), plane.end(), 77.f), static_cast<std::ptrdiff_t>(64 - written)) << "what lies between was touched";
}

TEST_P(Bindings, DenseStridesAreBoundAsTheyAre) {
  const Engine engine = build("(x f32[n,4])\n y = Neg(x)", {{{"x", {{1, 4}, {2, 4}, {4, 4}}}}});
  const auto context = engine.create_context();
  const std::vector<float> x = counted(16);
  std::vector<float> y(16);
  const std::array<std::int64_t, 2> rows{4, 1}, apart{8, 1};
  ASSERT_TRUE(bind_strided(*context, 0, const_cast<float*>(x.data()), 64, rows) && bind_strided(*context, 1, y.data(), 64, apart));
  ASSERT_TRUE(context->set_input_shape(0, Shape{1, 4}));   // one row: its stride says nothing
  expect_ok(*context, context->run());
  EXPECT_FALSE(copied_at_border(*context, 0) || copied_at_border(*context, 1));
  EXPECT_EQ(y[3], -4);
  ASSERT_TRUE(context->set_input_shape(0, Shape{2, 4}));
  expect_ok(*context, context->run());
  EXPECT_FALSE(copied_at_border(*context, 0));
  EXPECT_TRUE(copied_at_border(*context, 1));
  EXPECT_EQ(y[8], -5);
  ASSERT_TRUE(context->set_input_shape(0, Shape{3, 4}));
  const Status status = context->run();
  EXPECT_EQ(status, (Status{Status::invalid_binding, 1}));
  EXPECT_NE(context->describe(status).find("beyond the bytes given"), std::string::npos) << context->describe(status);
}

TEST_P(Bindings, StridesThatCannotBe) {
  const Engine engine = build("(x f32[2,4])\n y = Neg(x)");
  const auto context = engine.create_context();
  std::vector<float> x(16), y(16);
  const std::array<std::int64_t, 2> zero{0, 1}, negative{-4, 1};
  const std::array<std::int64_t, 1> one{1};
  EXPECT_EQ(bind_strided(*context, 0, x.data(), 64, one).code, Status::invalid_binding);
  EXPECT_EQ(bind_strided(*context, 0, x.data(), 64, negative).code, Status::invalid_binding);
  EXPECT_EQ(bind_strided(*context, 2, x.data(), 64, zero).code, Status::invalid_binding);
  ASSERT_TRUE(bind_strided(*context, 0, x.data(), 16, zero)) << "an input may repeat its elements";
  ASSERT_TRUE(context->bind(1, y.data(), 32));
  x[2] = 5;
  expect_ok(*context, context->run());
  EXPECT_EQ(y[2], -5);
  EXPECT_EQ(y[6], -5);
  ASSERT_TRUE(bind_strided(*context, 1, y.data(), 64, zero));
  const Status status = context->run();
  EXPECT_EQ(status, (Status{Status::invalid_binding, 1}));
  EXPECT_NE(context->describe(status).find("share places"), std::string::npos) << context->describe(status);
  ASSERT_TRUE(context->bind(1, y.data(), 32));
  expect_ok(*context, context->run());
}

// sum := sum + x, in place; the product cannot be.
TEST_P(Bindings, StateContinuesInPlaceOrInTwoPlaces) {
  for (const bool in_place : {true, false}) {
    const Engine engine = build("(s f32[4], x f32[4])\n y = Add(s, x)");
    const auto context = engine.create_context();
    std::vector<float> x = counted(4), got(4);
    ASSERT_TRUE(context->bind(1, x.data(), 16));
    expect_ok(*context, bind_state(*context, 2, 0, in_place));
    for (int i = 1; i <= 5; ++i) {
      expect_ok(*context, context->run());
      expect_ok(*context, read_state(*context, 0, got.data(), 16));
      for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(got[j], static_cast<float>(i) * x[j]) << "run " << i;
    }
    const std::vector<float> start(4, 100);
    expect_ok(*context, write_state(*context, 0, start.data(), 16));
    expect_ok(*context, context->run());
    expect_ok(*context, read_state(*context, 0, got.data(), 16));
    EXPECT_EQ(got[2], 103);
    expect_ok(*context, clear_state(*context, 0));
    expect_ok(*context, context->run());
    expect_ok(*context, read_state(*context, 0, got.data(), 16));
    EXPECT_EQ(got[3], 4);
    EXPECT_EQ(read_state(*context, 0, got.data(), 12).code, Status::invalid_binding);
    EXPECT_EQ(read_state(*context, 1, got.data(), 16).code, Status::invalid_binding);
  }
}

TEST_P(Bindings, StateOfAProductNeedsTwoPlacesAndSurvivesAFailedRun) {
  const Engine engine = build("(h f32[4,4], w f32[4,4])\n t = MatMul(h, w)\n y = Tanh(t)");
  const auto context = engine.create_context(), plain = engine.create_context();
  const Tensor w = ops::random_tensor(DType::f32, {4, 4}, 1);
  Tensor h = ops::random_tensor(DType::f32, {4, 4}, 2), got(DType::f32, {4, 4});
  ASSERT_TRUE(context->bind(1, const_cast<void*>(w.raw()), 64));
  expect_ok(*context, bind_state(*context, 2, 0));
  expect_ok(*context, write_state(*context, 0, h.raw(), 64));
  const CancelToken tripped = CancelToken::create();
  tripped.cancel();
  for (int i = 0; i < 6; ++i) {
    h = plain->run({h, w}).at(0);
    EXPECT_EQ(context->run_with({.token = tripped, .deadline = {}}).code, Status::cancelled);
    expect_ok(*context, context->run());
    expect_ok(*context, read_state(*context, 0, got.mutable_raw(), 64));
    EXPECT_EQ(std::memcmp(got.raw(), h.raw(), 64), 0) << "run " << i;
  }
}

// A cache that grows by a row in each run: present = past and new.
TEST_P(Bindings, StateTakesTheShapeOfTheOutput) {
  const Engine engine = build("(p f32[n,2], x f32[1,2])\n y = Concat(p, x) axis=0", {{{"p", {{0, 2}, {4, 2}, {8, 2}}}}});
  const auto context = engine.create_context();
  std::vector<float> x(2), got(16);
  ASSERT_TRUE(context->bind(1, x.data(), 8));
  expect_ok(*context, bind_state(*context, 2, 0));
  ASSERT_TRUE(context->set_input_shape(0, Shape{0, 2}));
  for (int i = 1; i <= 8; ++i) {
    x = {static_cast<float>(i), static_cast<float>(-i)};
    expect_ok(*context, context->run());
    EXPECT_EQ(context->shape(2), (Shape{i, 2})) << "of the run that was, not of the next";
    expect_ok(*context, read_state(*context, 0, got.data(), 8 * i));
    for (int row = 1; row <= i; ++row) EXPECT_EQ(got[static_cast<std::size_t>(2 * row - 2)], static_cast<float>(row)) << "run " << i;
  }
  expect_ok(*context, context->run());
  EXPECT_EQ(context->run().code, Status::invalid_shape) << "nine rows are more than the profile has";
}

// As a decoder's steps do. Beside states plain memory is plain; strides are not.
TEST_P(Bindings, WhatIsBoundAgainAsItWasNeedsNoPreparation) {
  const Engine engine = build("(s f32[4], x f32[4])\n y = Add(s, x)");
  const auto context = engine.create_context();
  const bool& changed = runtime::ContextAccess::of(*context).bindings.changed;
  std::vector<float> x = counted(4), other(4, 10), spread(8, 100), got(4);
  expect_ok(*context, bind_state(*context, 2, 0));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(context->bind(1, x.data(), 16));
    EXPECT_EQ(changed, i == 0);
    expect_ok(*context, context->run());
  }
  ASSERT_TRUE(context->bind(1, other.data(), 16));
  EXPECT_TRUE(changed);
  expect_ok(*context, context->run());
  ASSERT_TRUE(bind_strided(*context, 1, spread.data(), 32, std::array<std::int64_t, 1>{2}));
  expect_ok(*context, context->run());
  ASSERT_TRUE(context->bind(1, spread.data(), 32));
  EXPECT_TRUE(changed) << "its strides are forgotten";
  spread[1] = 1000;
  expect_ok(*context, context->run());
  expect_ok(*context, read_state(*context, 0, got.data(), 16));
  EXPECT_EQ(got, (std::vector<float>{213, 1116, 219, 222}));
}

TEST_P(Bindings, StateThatCannotBe) {
  const Engine engine = build("(x f32[4], z i32[4], v f32[4,1])\n y = Neg(x)\n a = Neg(z)\n b = Neg(v)\n return y, a, b");
  const auto context = engine.create_context();
  for (const auto& [output, input] : {std::pair{3, 1}, {3, 2}, {4, 0}, {0, 0}, {3, 3}, {9, 0}})
    EXPECT_EQ(bind_state(*context, output, input).code, Status::invalid_binding) << output << " " << input;
  expect_ok(*context, bind_state(*context, 3, 0));
  for (const int b : {0, 3}) EXPECT_THROW(context->own_memory(b), Error) << "the state would be lost without a word";
  std::vector<float> x(4, 1), y(4);
  ASSERT_TRUE(context->bind(0, x.data(), 16) && context->bind(3, y.data(), 16));
  for (const int b : {1, 2, 4, 5}) context->own_memory(b);
  expect_ok(*context, context->run());
  EXPECT_EQ(y[0], -1) << "bind() ends the state";
}

struct Given {
  std::vector<std::vector<float>> memory;
  std::vector<std::int64_t> requests;
  bool none = false;
  static void* allocate(void* user, int, std::int64_t bytes) {
    auto& self = *static_cast<Given*>(user);
    self.requests.push_back(bytes);
    if (self.none) return nullptr;
    return self.memory.emplace_back(static_cast<std::size_t>(bytes / 4 + 1)).data();
  }
};

TEST_P(Bindings, AllocatorsGiveMemoryOfTheSizeThatIsNeeded) {
  const Engine engine = build("(x f32[n])\n y = Neg(x)", {{{"x", {{1}, {4}, {8}}}}});
  const auto context = engine.create_context();
  const std::vector<float> x = counted(8);
  ASSERT_TRUE(context->bind(0, const_cast<float*>(x.data()), 32));
  Given given;
  ASSERT_TRUE(set_allocator(*context, 1, Given::allocate, &given));
  for (const std::int64_t n : {3, 8, 8, 1}) {
    ASSERT_TRUE(context->set_input_shape(0, Shape{n}));
    expect_ok(*context, context->run());
    EXPECT_EQ(given.requests.back(), 4 * n);
    EXPECT_FALSE(copied_at_border(*context, 1));
    EXPECT_EQ(given.memory.back()[static_cast<std::size_t>(n - 1)], -x[static_cast<std::size_t>(n - 1)]);
  }
  EXPECT_EQ(given.requests.size(), 4u);
  given.none = true;
  EXPECT_EQ(context->run().code, Status::out_of_memory);
  given.none = false;
  expect_ok(*context, context->run());
  EXPECT_EQ(set_allocator(*context, 0, Given::allocate, &given).code, Status::invalid_binding);
}

TEST_P(Bindings, AllocatorsMayGiveNothingForNothing) {
  const Engine engine = build("(x f32[n])\n y = Neg(x)", {{{"x", {{0}, {4}, {8}}}}});
  const auto context = engine.create_context();
  float x = 1;
  ASSERT_TRUE(context->bind(0, &x, 4));
  Given given;
  given.none = true;
  ASSERT_TRUE(set_allocator(*context, 1, Given::allocate, &given));
  ASSERT_TRUE(context->set_input_shape(0, Shape{0}));
  expect_ok(*context, context->prepare());
  EXPECT_TRUE(given.requests.empty()) << "allocators are asked in runs";
  expect_ok(*context, context->run());
  EXPECT_EQ(given.requests, std::vector<std::int64_t>{0});
}

TEST_P(Bindings, AllocatorsOfSizesThatTheRunDecides) {
  const Engine engine = build("(x f32[6])\n i = NonZero(x)\n f = Cast(i) to=\"f32\"\n return f");
  const auto context = engine.create_context();
  std::vector<float> x = {0, 1, 0, 2, 3, 0};
  ASSERT_TRUE(context->bind(0, x.data(), 24));
  Given given;
  ASSERT_TRUE(set_allocator(*context, 1, Given::allocate, &given));
  for (int again = 0; again < 2; ++again) {
    expect_ok(*context, context->run());
    EXPECT_TRUE(copied_at_border(*context, 1));
    EXPECT_EQ(given.requests.back(), 12);
    EXPECT_EQ(given.memory.back()[2], 4);
  }
  x = {1, 1, 1, 1, 1, 1};
  expect_ok(*context, context->run());
  EXPECT_EQ(given.requests.back(), 24);
}

TEST_P(Bindings, MemoryThatSuits) {
  const Engine engine = build("(x f32[n,3])\n y = Neg(x)", {{{"x", {{1, 3}, {4, 3}, {8, 3}}}}});
  const BindingMemory x = binding_memory(engine, 0);
  EXPECT_EQ(x.kind, ValueKind::tensor);
  EXPECT_EQ(x.bytes, 96);
  EXPECT_EQ(x.location, GetParam() ? Location::device : Location::host);
  EXPECT_THROW(binding_memory(engine, 2), Error);
}

// Where the strided memory is the device's own.
TEST(StridesOnADevice, AreCopiedThere) {
  const ir::Graph graph = ir::parse_graph("(x f32[4,3])\n y = Neg(x)", ir::Registry::builtin());
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  const auto backend = std::make_shared<FarBackend>();
  BuildReport report;
  plan::Plan plan = builder::build_plan(graph, config, "", backend, report);
  const Engine engine = builder::open_built(std::move(plan), config, backend);
  const auto context = engine.create_context();
  const auto memory = backend->memory().allocate(4 * 64);
  auto* values = static_cast<float*>(runtime::near(memory.get()));
  std::iota(values, values + 32, 1.f);
  const std::array<std::int64_t, 2> rows{8, 1};
  ASSERT_TRUE(bind_strided(*context, 0, memory.get(), 128, rows));
  ASSERT_TRUE(bind_strided(*context, 1, static_cast<float*>(memory.get()) + 4, 112, rows));
  for (int again = 0; again < 2; ++again) {
    const Status status = context->run();
    ASSERT_TRUE(status) << context->describe(status);
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < 3; ++i) EXPECT_EQ(values[r * 8 + 4 + i], -values[r * 8 + i]);
    EXPECT_EQ(values[3], 4);
  }
}

}  // namespace
}  // namespace tenfold
