// Runs that tell when they are over.
#include "tenfold/completion.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "builder/builder.h"
#include "builder/open_built.h"
#include "ir/text.h"
#include "runtime/device/far_backend_for_tests.h"
#include "tenfold/bindings.h"

namespace tenfold {
namespace {

struct Reported {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Status> outcomes;
  std::thread::id thread;
  static void call(void* user, Status status) {
    auto& self = *static_cast<Reported*>(user);
    const std::lock_guard lock(self.mutex);
    self.outcomes.push_back(status);
    self.thread = std::this_thread::get_id();
    self.changed.notify_all();
  }
  Status next(std::size_t count) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return outcomes.size() >= count; }));
    return outcomes.size() >= count ? outcomes[count - 1] : Status{Status::failed, -1};
  }
};

class Completions : public testing::TestWithParam<bool> {
 protected:
  Engine build() {
    const ir::Graph graph = ir::parse_graph("(x f32[4])\n y = Neg(x)", ir::Registry::builtin());
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1;
    if (!GetParam()) return builder::build_graph(graph, config);
    const auto backend = std::make_shared<runtime::FarBackend>();
    BuildReport report;
    plan::Plan plan = builder::build_plan(graph, config, "", backend, report);
    return builder::open_built(std::move(plan), config, backend);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Completions, testing::Bool(), [](const auto& info) { return info.param ? "far" : "cpu"; });

TEST_P(Completions, AreToldOnceInAnotherThread) {
  const Engine engine = build();
  const auto context = engine.create_context();
  Reported reported;
  auto* x = static_cast<float*>(context->own_memory(0));
  const auto* y = static_cast<const float*>(context->own_memory(1));
  for (int i = 1; i <= 20; ++i) {
    x[0] = static_cast<float>(i);
    ASSERT_TRUE(enqueue_then(*context, nullptr, {}, {Reported::call, &reported}));
    EXPECT_TRUE(reported.next(static_cast<std::size_t>(i)));
    ASSERT_TRUE(context->wait());
    EXPECT_EQ(y[0], static_cast<float>(-i));
  }
  EXPECT_EQ(reported.outcomes.size(), 20u);
  EXPECT_NE(reported.thread, std::this_thread::get_id());
  EXPECT_TRUE(context->run());
}

TEST_P(Completions, WaitingWithoutACallback) {
  const Engine engine = build();
  const auto context = engine.create_context();
  for (int b = 0; b < 2; ++b) context->own_memory(b);
  EXPECT_TRUE(context->wait());
  ASSERT_TRUE(enqueue_then(*context, nullptr, {}, {}));
  EXPECT_TRUE(context->wait());
}

TEST_P(Completions, ATrippedTokenAndAContextThatGoes) {
  const Engine engine = build();
  auto context = engine.create_context();
  for (int b = 0; b < 2; ++b) context->own_memory(b);
  Reported reported;
  const CancelToken token = CancelToken::create();
  token.cancel();
  const Status status = enqueue_then(*context, nullptr, {.token = token, .deadline = {}}, {Reported::call, &reported});
  if (GetParam()) {   // found while the run was asked for
    EXPECT_EQ(status.code, Status::cancelled);
  } else {
    EXPECT_TRUE(status);
    EXPECT_EQ(reported.next(1).code, Status::cancelled);
    EXPECT_EQ(context->wait().code, Status::cancelled);
    EXPECT_TRUE(context->wait()) << "an outcome is told once";
  }
  const std::size_t before = reported.outcomes.size();
  ASSERT_TRUE(enqueue_then(*context, nullptr, {}, {Reported::call, &reported}));
  context.reset();   // waits for the run and its callback
  EXPECT_EQ(reported.outcomes.size(), before + 1);
}

TEST_P(Completions, WhatTheHostCopiesIsThereWhenToldAndEachRunHasItsOwn) {
  const Engine engine = build();
  const auto context = engine.create_context();
  std::vector<float> x(8), y(8), other(8);
  const std::array<std::int64_t, 1> twos{2};
  ASSERT_TRUE(bind_strided(*context, 0, x.data(), 32, twos) && bind_strided(*context, 1, y.data(), 32, twos));
  Reported reported;
  x[2] = 5;
  ASSERT_TRUE(enqueue_then(*context, nullptr, {}, {Reported::call, &reported}));
  EXPECT_TRUE(reported.next(1));
  EXPECT_EQ(y[2], -5);
  if (!GetParam()) return;   // enqueue() runs at once there
  x[2] = 6;
  ASSERT_TRUE(context->enqueue());
  ASSERT_TRUE(bind_strided(*context, 1, other.data(), 32, twos));
  EXPECT_EQ(y[2], -6) << "what was enqueued goes where it was bound";
  x[2] = 7;
  ASSERT_TRUE(context->enqueue());
  ASSERT_TRUE(context->enqueue());
  ASSERT_TRUE(context->wait());
  EXPECT_EQ(y[2], -6);
  EXPECT_EQ(other[2], -7);
}

TEST(CompletionsOnACpu, AnOutcomeIsNotTheNextRuns) {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  const Engine engine = builder::build_graph(ir::parse_graph("(x f32[4])\n y = Neg(x)", ir::Registry::builtin()), config);
  const auto context = engine.create_context();
  for (int b = 0; b < 2; ++b) context->own_memory(b);
  Reported reported;
  const CancelToken token = CancelToken::create();
  token.cancel();
  ASSERT_TRUE(enqueue_then(*context, nullptr, {.token = token, .deadline = {}}, {Reported::call, &reported}));
  EXPECT_EQ(reported.next(1).code, Status::cancelled);
  ASSERT_TRUE(context->run());
  EXPECT_TRUE(context->wait()) << "the run before was cancelled, this one not";
}

// The callback holds the run's thread: meanwhile another run may be asked for, and waits its turn.
TEST_P(Completions, OneRunAtATime) {
  const Engine engine = build();
  const auto context = engine.create_context();
  for (int b = 0; b < 2; ++b) context->own_memory(b);
  int refused = 0, begun = 0;
  Reported reported;
  for (int i = 0; i < 200; ++i) {
    const Status status = enqueue_then(*context, nullptr, {}, {Reported::call, &reported});
    EXPECT_TRUE(status || status.code == Status::not_ready);
    (status ? begun : refused) += 1;
  }
  context->wait();
  EXPECT_TRUE(reported.next(static_cast<std::size_t>(begun)));
  EXPECT_EQ(begun + refused, 200);
  EXPECT_GE(begun, 1);
}

TEST(CompletionsOnACpu, CancelMeetsARunThatHasNotBegunItsSteps) {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  const Engine engine = builder::build_graph(ir::parse_graph("(x f32[4])\n y = Neg(x)", ir::Registry::builtin()), config);
  const auto context = engine.create_context();
  for (int b = 0; b < 2; ++b) context->own_memory(b);
  int stray = 0;
  EXPECT_EQ(enqueue_then(*context, &stray, {}, {}).code, Status::failed) << "a CPU has no streams";
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(enqueue_then(*context, nullptr, {}, {}));
    const bool met = context->cancel();
    const Status status = context->wait();
    EXPECT_EQ(met, status.code == Status::cancelled) << i;
  }
}

// What a callback may do with its context, which is the caller's again.
struct InCallback {
  std::unique_ptr<ExecutionContext> context;
  int runs = 0, left = 0;
  float last = 0;
  Status waited{Status::failed, -1};
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  static void again_then_end(void* user, Status status) {
    auto& self = *static_cast<InCallback*>(user);
    EXPECT_TRUE(status);
    ++self.runs;
    self.last = static_cast<const float*>(self.context->own_memory(1))[0];
    self.waited = self.context->wait();
    if (self.left-- > 0) {
      static_cast<float*>(self.context->own_memory(0))[0] = self.last;
      EXPECT_TRUE(enqueue_then(*self.context, nullptr, {}, {again_then_end, user}));
      EXPECT_EQ(self.context->wait().code, Status::not_ready) << "its own next run cannot be waited for here";
      return;
    }
    self.context.reset();
    const std::lock_guard lock(self.mutex);
    self.over = true;
    self.changed.notify_all();
  }
};

TEST_P(Completions, CallbacksReadBeginTheNextRunAndEndTheContext) {
  const Engine engine = build();
  InCallback in;
  in.context = engine.create_context(), in.left = 6;
  static_cast<float*>(in.context->own_memory(0))[0] = 3;
  in.context->own_memory(1);
  ASSERT_TRUE(enqueue_then(*in.context, nullptr, {}, {InCallback::again_then_end, &in}));
  std::unique_lock lock(in.mutex);
  ASSERT_TRUE(in.changed.wait_for(lock, std::chrono::seconds(60), [&] { return in.over; }));
  EXPECT_EQ(in.runs, 7);
  EXPECT_EQ(in.last, -3) << "each run negates what the one before gave";
  EXPECT_TRUE(in.waited);
}

TEST(CompletionsOnACpu, AForkMakesAThreadOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends forked processes that start threads";
#endif
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  const Engine engine = builder::build_graph(ir::parse_graph("(x f32[4])\n y = Neg(x)", ir::Registry::builtin()), config);
  auto context = engine.create_context(), unused = engine.create_context();
  for (auto* c : {context.get(), unused.get()})
    for (int b = 0; b < 2; ++b) c->own_memory(b);
  ASSERT_TRUE(enqueue_then(*context, nullptr, {}, {}) && enqueue_then(*unused, nullptr, {}, {}));
  ASSERT_TRUE(context->wait() && unused->wait());
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);   // a child that hangs fails
    unused.reset();
    static_cast<float*>(context->own_memory(0))[0] = 2;
    bool good = context->wait() && enqueue_then(*context, nullptr, {}, {}) && context->wait();
    good = good && static_cast<const float*>(context->own_memory(1))[0] == -2;
    context.reset();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(enqueue_then(*context, nullptr, {}, {}) && context->wait());
}

}  // namespace
}  // namespace tenfold
