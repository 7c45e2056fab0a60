// LoadOptions::pin_threads: contexts take the processors in turn, their callers stay there, and answers are the same.
#include <thread>

#include "api/network_for_tests.h"
#include "base/cpu_places.h"

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

Answer ask(const Engine& engine, const Tensor& x) {   // in a thread of its own, which the option may keep where it is
  Answer answer;
  const auto context = engine.create_context();
  std::thread([&] {
    answer.y = context->run({x})[0];
    answer.cpus = CpuPlaces::of_this_thread().order();
  }).join();
  return answer;
}

TEST(PinThreads, ContextsTakeTheProcessorsInTurn) {
  const std::vector<int> order = CpuPlaces::of_this_thread().order();
  ASSERT_FALSE(order.empty());
  const Tensor x = counting({64, 96}, 1e-3);
  for (const std::size_t threads : {1, 2}) {
    const Answer free = ask(products(false, static_cast<int>(threads)), x);
    EXPECT_EQ(free.cpus, order);
    const Engine engine = products(true, static_cast<int>(threads));
    for (std::size_t context = 0; context < 3; ++context) {
      const Answer pinned = ask(engine, x);
      EXPECT_EQ(pinned.cpus, std::vector<int>{order[context * threads % order.size()]}) << threads << " threads, context " << context;
      ASSERT_EQ(pinned.y.bytes(), free.y.bytes());
      EXPECT_EQ(std::memcmp(pinned.y.raw(), free.y.raw(), static_cast<std::size_t>(free.y.bytes())), 0);
    }
  }
  EXPECT_EQ(CpuPlaces::of_this_thread().order(), order);
}

}  // namespace
}  // namespace tenfold
