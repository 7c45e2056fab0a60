// Engines on a device whose memory the host cannot read: here the CPU's tactics behind addresses that fault when they are used.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "builder/open_built.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "runtime/device/far_backend_for_tests.h"

namespace tenfold {
namespace {

using runtime::FarBackend;
using runtime::FarStream;

// For batches of 1 to `max` rows of 6.
Engine far_engine(const ir::Graph& graph, std::int64_t max) {
  BuildConfig config;
  config.threads = 1;
  config.profiles = {{{"x", {{1, 6}, {2, 6}, {max, 6}}}}};
  BuildReport report;
  auto backend = std::make_shared<FarBackend>();
  return builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
}
Engine relu_engine(std::int64_t max) {
  return far_engine(ir::parse_graph("(x f32[batch,6])\n y = Relu(x)", ir::Registry::builtin()), max);
}

// Builds for the far device and compares with the interpreter, at every batch size given, twice each; so many of these runs are replayed.
void expect_right(const char* text, const std::vector<std::int64_t>& batches, int replayed) {
  const ir::Graph graph =
      ir::parse_graph(text, ir::Registry::builtin(),
                      {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
  const auto context = far_engine(graph, 8).create_context();
  const int before = FarStream::replays;
  std::uint64_t seed = 3;
  for (std::int64_t batch : batches)
    for (int again = 0; again < 2; ++again) {
      const Tensor x = ops::random_tensor(DType::f32, {batch, 6}, seed++);
      const Tensor got = context->run(std::vector<Tensor>{x}).at(0);
      const Tensor expected = std::get<Tensor>(ops::run_graph(graph, {x}).at(0));
      ASSERT_EQ(got.shape(), expected.shape());
      for (std::int64_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got.as_double(i), expected.as_double(i), 1e-4);
    }
  EXPECT_EQ(FarStream::replays - before, replayed);
}

TEST(Staging, KernelsAreRecordedAndReplayed) {
  expect_right(R"((x f32[batch,6], w f32[6,5]!, b f32[5]!)
    y = MatMul(x, w)
    z = Add(y, b)
    r = Relu(z)
    s = Softmax(r) axis=-1)",
               {2, 5, 2, 8}, 6);   // the second and third sizes run step by step at first
}
TEST(Staging, PrepareRecordsAndRunsOnlyReplay) {
  const auto context = relu_engine(8).create_context();
  const Shape shape{3, 6};
  ASSERT_TRUE(context->set_input_shape(0, shape));
  context->own_memory(0), context->own_memory(1);
  ASSERT_TRUE(context->prepare());
  const int launches = FarStream::launches, replays = FarStream::replays;
  EXPECT_GT(launches, 0);
  ASSERT_TRUE(context->run());
  EXPECT_EQ(FarStream::launches, launches);
  EXPECT_EQ(FarStream::replays, replays + 1);
}
TEST(Staging, HostStepsReadAndWriteCopies) {
  expect_right(R"((x f32[batch,6], w f32[6,5]!)
    y = MatMul(x, w)
    h = Hardmax(y) axis=-1
    a = Add(h, y))",
               {1, 4}, 0);
}
TEST(Staging, WhatFollowsHostStepsOfInputsIsRecordedWhenItRan) {
  expect_right(R"((x f32[batch,6], w f32[6,5]!)
    h = Hardmax(x) axis=-1
    a = Add(h, x)
    y = MatMul(a, w))",
               {1, 4}, 1);  // of the first; the second is recorded behind its second run
}

// CapturedGraph each of them anew, round after round, would cost more than it saves.
TEST(Staging, ShapesThatComeInTurnKeepTheRecordingsThatThereAre) {
  const auto context = relu_engine(64).create_context();
  const auto replayed = [&](std::int64_t last) {
    const int before = FarStream::replays;
    for (std::int64_t batch = 1; batch <= last; ++batch) {
      const Tensor x = ops::random_tensor(DType::f32, {batch, 6}, static_cast<std::uint64_t>(batch));
      const Tensor y = context->run(std::vector<Tensor>{x}).at(0);
      for (std::int64_t i = 0; i < y.size(); ++i) EXPECT_EQ(y.as_double(i), std::max(0.0, x.as_double(i)));
    }
    return FarStream::replays - before;
  };
  EXPECT_EQ(replayed(40), 1);    // of the first shape
  EXPECT_EQ(replayed(40), 32);   // as many as are kept
  EXPECT_EQ(replayed(40), 32);
}

// Also where the caller changes nothing between the runs.
TEST(Staging, AShapeThatStaysIsRecorded) {
  const auto context = relu_engine(8).create_context();
  context->own_memory(0), context->own_memory(1);
  for (const std::int64_t batch : {2, 3}) {
    ASSERT_TRUE(context->set_input_shape(0, Shape{batch, 6}));
    const int before = FarStream::replays;
    for (int run = 0; run < 4; ++run) ASSERT_TRUE(context->run());
    EXPECT_EQ(FarStream::replays - before, batch == 2 ? 4 : 3);
  }
}

// What a caller switched off stays off at other shapes, also where steps behind a prologue would be captured later.
TEST(Staging, NothingIsCapturedUntilReplayIsWantedAgain) {
  const char* const with_prologue = "(x f32[batch,6])\n h = Hardmax(x) axis=-1\n a = Add(h, x)";
  for (const char* text : {"(x f32[batch,6])\n y = Relu(x)", with_prologue}) {
    const auto context = far_engine(ir::parse_graph(text, ir::Registry::builtin()), 8).create_context();
    context->own_memory(0), context->own_memory(1);
    const auto replayed = [&](std::int64_t batch) {
      const int before = FarStream::replays;
      EXPECT_TRUE(context->set_input_shape(0, Shape{batch, 6}));
      for (int run = 0; run < 3; ++run) EXPECT_TRUE(context->run());
      return FarStream::replays - before;
    };
    context->replay_runs(false);
    EXPECT_EQ(replayed(2), 0);
    EXPECT_EQ(replayed(3), 0);
    context->replay_runs(true);
    EXPECT_EQ(replayed(3), text == with_prologue ? 2 : 3);   // captured behind the first run, or ahead of it
  }
}

}  // namespace
}  // namespace tenfold
