// LoadOptions::pin_threads: contexts take the processors in turn and give them back, their callers stay there, answers are the same.
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "api_build/network_for_tests.h"
#include "base/threads/cpu_places.h"

namespace tenfold {
namespace {

Engine products(bool pin, int threads) {
  Network net;
  NetworkTensor x = net.input("x", DType::f32, {64, 96});
  for (int layer = 0; layer < 3; ++layer)
    x = net.activation(Activation::relu, net.matrix_multiply(x, net.constant(counting({96, 96}, 1e-5 * (layer + 1)))));
  net.mark_output(x, "y");
  BuildConfig config;
  config.optimization_level = 0;
  config.threads = threads;
  config.pin_threads = pin;
  return build(net, config);
}

struct Answer {
  std::vector<int> cpus;   // that the caller may use after a run
  Tensor y;
};

Answer answer_to(ExecutionContext& context, const Tensor& x) {   // in a thread of its own, which the option may keep where it is
  Answer answer;
  std::thread([&] {
    answer.y = context.run({x})[0];
    answer.cpus = CpuPlaces::of_this_thread().order();
  }).join();
  return answer;
}

std::vector<int> threads_of_process() {
  std::vector<int> ids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ids.push_back(std::stoi(entry.path().filename()));
  return ids;
}

// Contexts that are there at the same time have different processors while there are enough, and what a context leaves is free again.
TEST(PinThreads, ContextsTakeTheProcessorsInTurn) {
  const std::vector<int> order = CpuPlaces::of_this_thread().order();
  ASSERT_FALSE(order.empty());
  const Tensor x = counting({64, 96}, 1e-3);
  for (const std::size_t threads : {1, 2}) {
    const Answer free = answer_to(*products(false, static_cast<int>(threads)).create_context(), x);
    EXPECT_EQ(free.cpus, order);
    const Engine engine = products(true, static_cast<int>(threads));
    for (int round = 0; round < 2; ++round) {
      std::vector<std::unique_ptr<ExecutionContext>> contexts;
      for (std::size_t context = 0; context < 3; ++context) {
        contexts.push_back(engine.create_context());
        const Answer pinned = answer_to(*contexts.back(), x);
        EXPECT_EQ(pinned.cpus, std::vector<int>{order[context * threads % order.size()]}) << threads << " threads, context " << context;
        ASSERT_EQ(pinned.y.bytes(), free.y.bytes());
        EXPECT_EQ(std::memcmp(pinned.y.raw(), free.y.raw(), static_cast<std::size_t>(free.y.bytes())), 0);
      }
    }
  }
  EXPECT_EQ(CpuPlaces::of_this_thread().order(), order);
}

// The thread that made and ran one context has a single processor left; what it makes next has all of them nevertheless.
TEST(PinThreads, WhatAPinnedThreadMakesIsNotConfined) {
  const std::vector<int> order = CpuPlaces::of_this_thread().order();
  if (order.size() < 2) GTEST_SKIP() << "there is one processor";
  const Tensor x = counting({64, 96}, 1e-3);
  const Engine all = products(true, 0), two = products(true, 2);
  std::thread([&] {
    const std::size_t before = threads_of_process().size();
    const auto first = all.create_context();
    const std::size_t after = threads_of_process().size();
    first->run({x});
    ASSERT_EQ(CpuPlaces::of_this_thread().order().size(), 1u);
    const auto second = all.create_context();
    const std::vector<int> known = threads_of_process();
    EXPECT_EQ(known.size() - after, after - before) << "threads of the second context";
    const auto third = two.create_context();
    third->run({x});
    const std::vector<int> own = CpuPlaces::of_this_thread().order();
    for (const int id : threads_of_process()) {
      if (std::find(known.begin(), known.end(), id) != known.end()) continue;
      cpu_set_t set;
      const auto settled = [&] {
        return sched_getaffinity(id, sizeof set, &set) == 0 && !CPU_ISSET(static_cast<std::size_t>(own[0]), &set);
      };
      for (int i = 0; i < 1000 && !settled(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(settled()) << "the worker is on its caller's processor";
    }
  }).join();
}

}  // namespace
}  // namespace tenfold
