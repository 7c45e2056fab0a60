// Who gets which piece, and that each is computed once whoever fails.
#include "device_pool/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string_view>
#include <thread>

#include "tenfold/error.h"

namespace tenfold::serving {
namespace {

constexpr auto kLong = std::chrono::minutes(1);

struct Numbered {
  std::size_t number = 0;
  std::size_t units() const { return 1; }
  std::int64_t cost() const { return 4; }
};
using Queue = WorkQueue<Numbered>;

std::vector<Numbered> pieces(std::size_t count) {
  std::vector<Numbered> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i].number = i;
  return all;
}

std::vector<std::size_t> shares(DeviceStrategy strategy, std::vector<PoolMember> members, std::size_t number, std::size_t turn = 0) {
  const std::size_t count = members.size();
  Queue queue(strategy, std::move(members), turn);
  queue.add(pieces(number));
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(queue.waiting(i));
  return all;
}

using Shares = std::vector<std::size_t>;

TEST(WorkQueue, DealsByTurnsMemoryAndSpeed) {
  const PoolMember one, gone{.here = false};
  EXPECT_EQ(shares(DeviceStrategy::round_robin, {one, one, one}, 7), (Shares{3, 2, 2}));
  EXPECT_EQ(shares(DeviceStrategy::round_robin, {one, one, one}, 7, 4), (Shares{2, 3, 2}));
  EXPECT_EQ(shares(DeviceStrategy::round_robin, {one, gone, one}, 6), (Shares{3, 0, 3}));
  EXPECT_EQ(shares(DeviceStrategy::memory, {one, {.room = 3}}, 8), (Shares{2, 6}));
  EXPECT_EQ(shares(DeviceStrategy::utilization, {{.speed = 100}, {.speed = 400}, gone}, 10), (Shares{2, 8, 0}));
  EXPECT_EQ(shares(DeviceStrategy::automatic, {one, one}, 5), (Shares{5, 5})) << "whoever is free takes them";
}

TEST(WorkQueue, LearnsHowFastDevicesAre) {
  Queue queue(DeviceStrategy::utilization, {{}, {}}, 0);
  queue.add(pieces(2));
  queue.done(0, *queue.take(0), 1.0), queue.done(1, *queue.take(1), 4.0);
  queue.add(pieces(10));
  EXPECT_EQ(queue.waiting(0), 8u);
  EXPECT_EQ(queue.waiting(1), 2u);
}

// Three devices with two threads each. The second fails at its fifth piece.
class Failing : public ::testing::TestWithParam<DeviceStrategy> {};
TEST_P(Failing, GivesItsPiecesToTheOthers) {
  constexpr std::size_t kPieces = 500;
  Queue queue(GetParam(), {{}, {}, {}}, 0);
  std::vector<std::atomic<int>> computed(kPieces);
  std::atomic<int> of_second{0};
  const auto work = [&](std::size_t member) {
    while (auto piece = queue.take(member)) {
      if (member == 1 && ++of_second >= 5) {
        EXPECT_TRUE(queue.leave(1, std::move(*piece), nullptr));
        continue;
      }
      ++computed[piece->number];
      queue.done(member, *piece, 1e-3);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 6; ++i) threads.emplace_back(work, i % 3);
  queue.add(pieces(kPieces));
  queue.close();
  for (WorkState known = queue.state(); known.open > 0;) known = queue.wait_for_change(known, kLong);
  for (std::thread& one : threads) one.join();
  for (const auto& times : computed) EXPECT_EQ(times, 1);
  EXPECT_EQ(queue.state().ready, kPieces);
  EXPECT_TRUE(queue.anyone_here());
}
INSTANTIATE_TEST_SUITE_P(WorkQueue, Failing,
                         ::testing::Values(DeviceStrategy::automatic, DeviceStrategy::round_robin, DeviceStrategy::memory,
                                           DeviceStrategy::utilization));

TEST(WorkQueue, StopsWhenNobodyIsLeft) {
  Queue queue(DeviceStrategy::round_robin, {{}, {}}, 0);
  queue.add(pieces(4));
  EXPECT_TRUE(queue.leave(0, *queue.take(0), nullptr));
  EXPECT_EQ(queue.waiting(1), 4u);
  EXPECT_FALSE(queue.leave(1, *queue.take(1), std::make_exception_ptr(Error(ErrorKind::device, "gone"))));
  EXPECT_TRUE(queue.state().stopped);
  EXPECT_FALSE(queue.take(0) || queue.take(1));
  EXPECT_THROW(std::rethrow_exception(queue.why()), Error);
  queue.add(pieces(2));  // comes too late, and is nobody's
  EXPECT_FALSE(queue.take(0));
}

// A device's second thread gives back behind its first one. Whoever starts the others' threads must hear of it.
TEST(WorkQueue, TellsOfEachPieceThatComesBack) {
  Queue queue(DeviceStrategy::round_robin, {{}, {.here = false}, {}}, 0);
  queue.add(pieces(1));
  queue.add(pieces(1));
  Numbered first = *queue.take(0), second = *queue.take(2);
  EXPECT_TRUE(queue.leave(0, std::move(first), nullptr));
  const WorkState known = queue.state();
  EXPECT_TRUE(queue.leave(0, std::move(second), nullptr));
  EXPECT_NE(queue.wait_for_change(known, kLong).returned, known.returned);
  EXPECT_EQ(queue.waiting(2), 2u);
  EXPECT_TRUE(queue.leave(0, std::nullopt, nullptr));
  EXPECT_EQ(queue.waiting(2), 2u);
}

TEST(WorkQueue, NamesOfStrategies) {
  EXPECT_EQ(parse_device_strategy("auto"), DeviceStrategy::automatic);
  EXPECT_EQ(parse_device_strategy("utilization"), DeviceStrategy::utilization);
  try {
    parse_device_strategy("fastest");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string_view(e.what()).find("auto, round_robin, memory, utilization or pipeline, not 'fastest'"), std::string_view::npos);
  }
}

}  // namespace
}  // namespace tenfold::serving
