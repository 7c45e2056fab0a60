// Engines that are replaced under their users.
#include "tenfold/engine_slot.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "builder/builder.h"
#include "ir/text.h"

namespace tenfold {
namespace {

using namespace std::chrono_literals;

Engine build(const char* op) {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  return builder::build_graph(ir::parse_graph(std::string("(x f32[1])\n y = ") + op + "(x)", ir::Registry::builtin()), config);
}
double answer(ExecutionContext& context) {
  Tensor x(DType::f32, {1});
  *x.mutable_data<float>() = -2;
  return context.run({x}).at(0).as_double(0);
}

TEST(EngineSlot, UsersKeepWhatTheyHave) {
  EngineSlot slot(build("Neg"));
  auto old = slot.get().create_context();
  const RetiredEngine retired = slot.replace(build("Abs"));
  const RetiredEngine never_used = slot.replace(build("Relu"));
  EXPECT_TRUE(never_used.drained());
  EXPECT_EQ(answer(*slot.get().create_context()), 0);
  EXPECT_EQ(answer(*old), 2);
  EXPECT_FALSE(retired.drained());
  EXPECT_FALSE(retired.wait(1ms));
  old.reset();
  EXPECT_TRUE(retired.drained());
  retired.wait();
}

TEST(EngineSlot, IsReplacedWhileManyRun) {
  EngineSlot slot(build("Neg"));
  std::atomic<bool> stop = false;
  std::atomic<long> runs = 0, wrong = 0;
  std::vector<std::thread> users;
  for (int t = 0; t < 3; ++t)
    users.emplace_back([&] {
      while (!stop) {
        const auto context = slot.get().create_context();
        const double y = answer(*context);
        wrong += y != 2 && y != 0;
        ++runs;
      }
    });
  const Engine relu = build("Relu"), neg = build("Neg");
  for (int i = 0; i < 50; ++i) slot.replace(i % 2 ? neg : relu).wait();
  while (runs < 50) std::this_thread::yield();
  stop = true;
  for (auto& u : users) u.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tenfold
