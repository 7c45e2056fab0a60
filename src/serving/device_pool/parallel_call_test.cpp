// Several devices compute pieces of anything; who fails leaves them to the others.
#include "device_pool/parallel_call.h"

#include <gtest/gtest.h>

#include <atomic>

namespace tenfold::serving {
namespace {

struct Numbered {
  std::size_t number = 0;
  std::size_t units() const { return 1; }
  std::int64_t cost() const { return 1; }
};

// As many CPUs as are asked for, and what they computed.
struct Pool {
  explicit Pool(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      DevicePlace place;
      place.name = "cpu" + std::to_string(i), place.device = "cpu";
      own.push_back(std::make_unique<PoolDevice>(place)), devices.push_back(own.back().get());
    }
  }
  // Adds the pieces in two parts, and waits for all. `compute` says what a member does with a piece.
  std::size_t run(std::size_t pieces, DeviceStrategy strategy, const ParallelCall<Numbered>::Compute& compute) {
    WorkQueue<Numbered> queue(strategy, members_of(devices, strategy), 0);
    const LogCallback log = [this](Severity, std::string_view text) { logged += std::string(text) + "\n"; };
    ParallelCall<Numbered> call(devices, queue, 0, compute, log);
    std::vector<Numbered> some;
    for (std::size_t i = 0; i < pieces; ++i) {
      some.push_back({i});
      if (i == pieces / 2) call.add(std::exchange(some, {}));
    }
    call.add(std::move(some));
    std::size_t seen = 0;
    call.finish([&](std::size_t ready) { seen = ready; });
    return seen;
  }
  std::vector<std::unique_ptr<PoolDevice>> own;
  std::vector<PoolDevice*> devices;
  std::string logged;
};

class Strategies : public ::testing::TestWithParam<DeviceStrategy> {};
TEST_P(Strategies, EachPieceOnceWhoeverFails) {
  Pool pool(3);
  std::vector<std::atomic<int>> computed(200);
  std::atomic<int> of_second{0};
  EXPECT_EQ(pool.run(computed.size(), GetParam(),
                     [&](std::size_t member, Numbered& piece) {
                       if (member == 1 && ++of_second > 3) throw Error(ErrorKind::device, "it fell off the bus");
                       ++computed[piece.number];
                       return true;
                     }),
            computed.size());
  for (const auto& times : computed) EXPECT_EQ(times, 1);
  if (of_second <= 3) return;   // with one queue for all it may never have got so many
  EXPECT_TRUE(pool.own[1]->lost());
  EXPECT_EQ(pool.logged, "the device 'cpu1' failed, and the others do its work: it fell off the bus\n");
}
INSTANTIATE_TEST_SUITE_P(ParallelCall, Strategies,
                         ::testing::Values(DeviceStrategy::automatic, DeviceStrategy::round_robin, DeviceStrategy::memory,
                                           DeviceStrategy::utilization));

TEST(ParallelCall, SaysWhyNoDeviceIsLeftAndTriesAllAgain) {
  Pool pool(2);
  const auto fails = [](std::size_t member, Numbered&) -> bool {
    throw Error(ErrorKind::device, member == 0 ? "no power" : "too hot");
  };
  try {
    pool.run(4, DeviceStrategy::round_robin, fails);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::device);
    EXPECT_EQ(std::string(e.what()), "no device is left; 'cpu0': no power; 'cpu1': too hot");
  }
  EXPECT_EQ(pool.run(4, DeviceStrategy::round_robin, [](std::size_t, Numbered&) { return true; }), 4u);
}

TEST(ParallelCall, WhatNoDeviceMendsEndsTheCall) {
  Pool pool(2);
  EXPECT_THROW(pool.run(50, DeviceStrategy::automatic,
                        [](std::size_t, Numbered& piece) -> bool {
                          if (piece.number == 7) throw Error(ErrorKind::invalid_model, "not finite");
                          return true;
                        }),
               Error);
  EXPECT_FALSE(pool.own[0]->lost() || pool.own[1]->lost());
}

TEST(ParallelCall, EndsWhereTheCallerIsInterrupted) {
  Pool pool(2);
  const Interrupts interrupts([] { return false; });
  EXPECT_THROW(pool.run(1000, DeviceStrategy::automatic,
                        [](std::size_t, Numbered&) {
                          std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          return true;
                        }),
               Error);
}

}  // namespace
}  // namespace tenfold::serving
