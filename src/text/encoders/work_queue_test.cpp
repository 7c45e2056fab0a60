// Who gets which piece, and that each is computed once whoever fails.
#include "text/encoders/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

namespace tenfold::encoders {
namespace {

constexpr auto kLong = std::chrono::minutes(1);

// A window of so many texts of `length` tokens, a text in each piece.
std::vector<WorkItem> pieces(std::size_t texts, std::size_t length = 4) {
  const auto window = std::make_shared<Window>();
  for (std::size_t i = 0; i < texts; ++i) window->tokens.ids.resize((i + 1) * length), window->tokens.ends.push_back((i + 1) * length);
  return pieces_of(window, [](std::int64_t) { return 1; });
}

std::vector<std::size_t> shares(DeviceStrategy strategy, std::vector<WorkQueue::Member> members, std::size_t texts, std::size_t turn = 0) {
  const std::size_t count = members.size();
  WorkQueue queue(strategy, std::move(members), turn);
  queue.add(pieces(texts));
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(queue.waiting(i));
  return all;
}

using Shares = std::vector<std::size_t>;

TEST(WorkQueue, DealsByTurnsMemoryAndSpeed) {
  const WorkQueue::Member one, gone{.here = false};
  EXPECT_EQ(shares(DeviceStrategy::round_robin, {one, one, one}, 7), (Shares{3, 2, 2}));
  EXPECT_EQ(shares(DeviceStrategy::round_robin, {one, one, one}, 7, 4), (Shares{2, 3, 2}));
  EXPECT_EQ(shares(DeviceStrategy::round_robin, {one, gone, one}, 6), (Shares{3, 0, 3}));
  EXPECT_EQ(shares(DeviceStrategy::memory, {one, {.room = 3}}, 8), (Shares{2, 6}));
  EXPECT_EQ(shares(DeviceStrategy::utilization, {{.speed = 100}, {.speed = 400}, gone}, 10), (Shares{2, 8, 0}));
  EXPECT_EQ(shares(DeviceStrategy::automatic, {one, one}, 5), (Shares{5, 5})) << "whoever is free takes them";
}

TEST(WorkQueue, LearnsHowFastDevicesAre) {
  WorkQueue queue(DeviceStrategy::utilization, {{}, {}}, 0);
  queue.add(pieces(2));
  queue.done(0, *queue.take(0), 1.0), queue.done(1, *queue.take(1), 4.0);
  queue.add(pieces(10));
  EXPECT_EQ(queue.waiting(0), 8u);
  EXPECT_EQ(queue.waiting(1), 2u);
}

TEST(WorkQueue, PiecesOfAWindowHoldEachTextOnceTheLongestFirst) {
  const auto window = std::make_shared<Window>();
  for (const std::size_t length : {3, 5, 3, 1, 3, 5})
    window->tokens.ends.push_back((window->tokens.ends.empty() ? 0 : window->tokens.ends.back()) + length);
  const std::vector<WorkItem> all = pieces_of(window, [](std::int64_t length) { return length == 3 ? 2 : 8; });
  std::vector<std::vector<std::size_t>> texts;
  for (const WorkItem& piece : all) texts.push_back(piece.texts);
  EXPECT_EQ(texts, (std::vector<std::vector<std::size_t>>{{1, 5}, {0, 2}, {4}, {3}}));
  EXPECT_EQ(all[0].tokens(), 10);
}

// Three devices with two threads each. The second fails at its fifth piece.
class Failing : public ::testing::TestWithParam<DeviceStrategy> {};
TEST_P(Failing, GivesItsPiecesToTheOthers) {
  constexpr std::size_t kTexts = 500;
  WorkQueue queue(GetParam(), {{}, {}, {}}, 0);
  std::vector<std::atomic<int>> computed(kTexts);
  std::atomic<int> of_second{0};
  const auto work = [&](std::size_t member) {
    while (auto piece = queue.take(member)) {
      if (member == 1 && ++of_second >= 5) {
        EXPECT_TRUE(queue.leave(1, std::move(*piece), nullptr));
        continue;
      }
      for (const std::size_t text : piece->texts) ++computed[text];
      queue.done(member, *piece, 1e-3);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 6; ++i) threads.emplace_back(work, i % 3);
  queue.add(pieces(kTexts));
  queue.close();
  for (WorkQueue::State known = queue.state(); known.open > 0;) known = queue.wait_for_change(known, kLong);
  for (std::thread& one : threads) one.join();
  for (const auto& times : computed) EXPECT_EQ(times, 1);
  EXPECT_EQ(queue.state().ready, kTexts);
  EXPECT_TRUE(queue.anyone_here());
}
INSTANTIATE_TEST_SUITE_P(WorkQueue, Failing,
                         ::testing::Values(DeviceStrategy::automatic, DeviceStrategy::round_robin, DeviceStrategy::memory,
                                           DeviceStrategy::utilization));

TEST(WorkQueue, StopsWhenNobodyIsLeft) {
  WorkQueue queue(DeviceStrategy::round_robin, {{}, {}}, 0);
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
  WorkQueue queue(DeviceStrategy::round_robin, {{}, {.here = false}, {}}, 0);
  queue.add(pieces(1));
  queue.add(pieces(1));
  WorkItem first = *queue.take(0), second = *queue.take(2);
  EXPECT_TRUE(queue.leave(0, std::move(first), nullptr));
  const WorkQueue::State known = queue.state();
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
}  // namespace tenfold::encoders
