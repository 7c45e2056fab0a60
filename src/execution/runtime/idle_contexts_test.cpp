// Contexts that calls borrow: used again, cleared, and no reason for an engine to live on.
#include "tenfold/internal/idle_contexts.h"

#include <gtest/gtest.h>

#include <thread>

#include "builder/builder.h"
#include "builder/open_built.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "runtime/context.h"
#include "runtime/device/far_backend_for_tests.h"
#include "tenfold/bindings.h"

namespace tenfold {
namespace {

class IdleContexts : public testing::TestWithParam<bool> {
 protected:
  static Engine build() {
    const ir::Graph graph = ir::parse_graph("(s f32[4], x f32[4])\n y = Add(s, x)", ir::Registry::builtin(), {});
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1;
    if (!GetParam()) return builder::build_graph(graph, config);
    const auto backend = std::make_shared<runtime::FarBackend>();
    BuildReport report;
    return builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
  }
  static float first_sum(ExecutionContext& context, float s, float x) {
    static_cast<float*>(context.own_memory(0))[0] = s, static_cast<float*>(context.own_memory(1))[0] = x;
    const float* const y = static_cast<const float*>(context.own_memory(2));
    EXPECT_TRUE(context.run());
    return y[0];
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, IdleContexts, testing::Bool(), [](const auto& info) { return info.param ? "far" : "cpu"; });

TEST_P(IdleContexts, OneIsUsedAgain) {
  const Engine engine = build();
  const ExecutionContext* first = nullptr;
  {
    const auto one = borrow_context(engine), other = borrow_context(engine);
    EXPECT_NE(one, other);
    EXPECT_EQ(first_sum(*one, 1, 2), 3);
    EXPECT_EQ(first_sum(*other, 3, 4), 7);
    first = other.get();   // ends first
  }
  const auto again = borrow_context(engine);
  EXPECT_EQ(again.get(), first);
  EXPECT_EQ(first_sum(*again, 5, 6), 11);
}

TEST_P(IdleContexts, KeepNoStateAndNoMemoryOfTheCaller) {
  const Engine engine = build();
  std::vector<float> x(4, 1), y(4, 77);
  {
    const auto context = borrow_context(engine);
    EXPECT_TRUE(context->bind(1, x.data(), 16));
    EXPECT_TRUE(bind_state(*context, 2, 0));
    EXPECT_TRUE(context->run());
  }
  {
    const auto context = borrow_context(engine);
    EXPECT_EQ(read_state(*context, 0, y.data(), 16).code, Status::invalid_binding);
    EXPECT_EQ(first_sum(*context, 2, 3), 5);
    EXPECT_TRUE(context->bind(2, y.data(), 16));
    EXPECT_TRUE(context->run());
    EXPECT_EQ(y[0], 5);
  }
  const auto context = borrow_context(engine);
  EXPECT_EQ(first_sum(*context, 4, 5), 9);
  EXPECT_EQ(y[0], 5);
}

TEST_P(IdleContexts, EndWithTheirEngine) {
  std::weak_ptr<runtime::EngineState> state;
  std::shared_ptr<ExecutionContext> last;
  {
    const Engine engine = build();
    state = runtime::state_of(engine);
    borrow_context(engine).reset();
    last = borrow_context(engine);
    borrow_context(engine).reset();   // and one that idles
  }
  ASSERT_FALSE(state.expired());
  EXPECT_EQ(first_sum(*last, 1, 1), 2);
  last.reset();
  EXPECT_TRUE(state.expired());
}

TEST_P(IdleContexts, AreDropped) {
  const Engine engine = build();
  while (drop_idle_contexts()) {}
  borrow_context(engine).reset();
  EXPECT_TRUE(drop_idle_contexts());
  EXPECT_FALSE(drop_idle_contexts());
  EXPECT_EQ(first_sum(*borrow_context(engine), 1, 1), 2);
}

TEST_P(IdleContexts, ServeThreads) {
  const Engine engine = build();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&engine, t] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(first_sum(*borrow_context(engine), static_cast<float>(t), static_cast<float>(i)), static_cast<float>(t + i));
        if (i % 10 == 0) drop_idle_contexts();
      }
    });
  for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace tenfold
