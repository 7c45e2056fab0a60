// What stops a run: cancel() from another thread, a token, a deadline; and that nothing else is stopped.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "builder/builder.h"
#include "builder/open_built.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "runtime/device/far_backend_for_tests.h"

namespace tenfold {
namespace {

using Clock = std::chrono::steady_clock;

class Cancel : public testing::Test {
 protected:
  static Engine build() {
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1;
    const char* text = "(x f32[2,6])\n i = i64[]{1}\n a = Softmax(x)\n b = CumSum(a, i)\n y = Softmax(b)";
    return builder::build_graph(ir::parse_graph(text, ir::Registry::builtin(), {}), config);
  }
  void SetUp() override {
    for (int b = 0; b < 2; ++b) context->own_memory(b);
    ASSERT_GE(engine.info().steps, 2);
  }
  // `act` in the run's own thread, behind its last step.
  void after_the_last_step(std::function<void()> act) {
    context->set_profiler([this, act = std::move(act), steps = 0](std::string_view, double) mutable {
      if (++steps == engine.info().steps) act();
    });
  }

  Engine engine = build();
  std::unique_ptr<ExecutionContext> context = engine.create_context();
};

TEST_F(Cancel, MeetsTheRunUnderWayAndNoOther) {
  EXPECT_FALSE(context->cancel()) << "no run is under way";
  EXPECT_TRUE(context->run()) << "a cancel between runs hit the next one";
  bool reported = false;
  after_the_last_step([&] { reported = context->cancel(); });
  const Status status = context->run();
  EXPECT_TRUE(reported);
  EXPECT_EQ(status.code, Status::cancelled) << "a cancel behind the last step was lost";
  EXPECT_FALSE(context->cancel());
  context->set_profiler(nullptr);
  EXPECT_TRUE(context->run()) << "a cancel of the last run hit this one";
}

TEST_F(Cancel, TokensStopTheirRunsAlone) {
  const CancelToken token = CancelToken::create(), other = CancelToken::create(), none;
  none.cancel();
  EXPECT_FALSE(none.cancelled());
  EXPECT_TRUE(context->run_with({.token = token, .deadline = {}}));
  token.cancel();
  EXPECT_EQ(context->run_with({.token = token, .deadline = {}}).code, Status::cancelled);
  EXPECT_EQ(context->enqueue(nullptr, {.token = token, .deadline = {}}).code, Status::cancelled);
  EXPECT_TRUE(context->run());
  EXPECT_TRUE(context->run_with({.token = other, .deadline = {}}));
  after_the_last_step([&] { other.cancel(); });
  EXPECT_EQ(context->run_with({.token = other, .deadline = {}}).code, Status::cancelled);
  context->set_profiler(nullptr);
  EXPECT_TRUE(context->run());
  const Tensor x = ops::random_tensor(DType::f32, {2, 6}, 1);
  try {
    context->run({x}, {.token = token, .deadline = {}});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::cancelled);
  }
}

TEST_F(Cancel, DeadlinesStopBeforeAStep) {
  EXPECT_TRUE(context->run_with({.token = {}, .deadline = Clock::now() + std::chrono::hours(1)}));
  const Status late = context->run_with({.token = {}, .deadline = Clock::now() - std::chrono::seconds(1)});
  EXPECT_EQ(late.code, Status::deadline);
  EXPECT_NE(context->describe(late).find("deadline"), std::string::npos) << context->describe(late);
  const auto soon = Clock::now() + std::chrono::milliseconds(50);
  int steps = 0;
  context->set_profiler([&](std::string_view, double) {
    ++steps;
    std::this_thread::sleep_until(soon);
  });
  const Status status = context->run_with({.token = {}, .deadline = soon});
  EXPECT_EQ(status, (Status{Status::deadline, 1}));
  EXPECT_EQ(steps, 1);
  context->set_profiler(nullptr);
  EXPECT_TRUE(context->run());
}

// On a device with memory of its own, too, where a cancelled run must not spoil graphs.
TEST_F(Cancel, AlsoWhereStepsAreRecorded) {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  BuildReport report;
  const ir::Graph graph = ir::parse_graph("(x f32[2,6])\n a = Softmax(x)\n y = Softmax(a) axis=0", ir::Registry::builtin(), {});
  auto backend = std::make_shared<runtime::FarBackend>();
  const Engine far = builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
  const auto c = far.create_context();
  const Tensor x = ops::random_tensor(DType::f32, {2, 6}, 1);
  const CancelToken token = CancelToken::create();
  token.cancel();
  EXPECT_THROW(c->run({x}, {.token = token, .deadline = {}}), Error);
  const Tensor first = c->run({x}).at(0), second = c->run({x}).at(0);
  EXPECT_EQ(std::memcmp(first.raw(), second.raw(), static_cast<std::size_t>(first.bytes())), 0);
  EXPECT_NEAR(first.as_double(0) + first.as_double(6), 1, 1e-6);
}

// However threads fall, what cancel() says is what the run returns.
TEST_F(Cancel, FromManyThreads) {
  std::atomic<bool> stop = false;
  std::atomic<long> met = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) met += context->cancel();
    });
  long cancelled = 0;
  for (int i = 0; i < 20000; ++i) {
    const Status status = context->run();
    cancelled += status.code == Status::cancelled;
    ASSERT_TRUE(status || status.code == Status::cancelled);
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  EXPECT_LE(cancelled, met);
  EXPECT_EQ(cancelled > 0, met > 0);
  EXPECT_TRUE(context->run());
}

}  // namespace
}  // namespace tenfold
