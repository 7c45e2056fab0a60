// The order in which requests run and end: arrival, levels of priority, who may overtake whom.
#include "queue/queue_for_tests.h"

namespace tenfold::queue_tests {
namespace {

TEST(RequestOrder, RunsHigherLevelsFirstAndFillsBatchesFromLowerOnes) {
  Behind test({.max_batch = 2, .priority_levels = 3, .default_priority = 2});
  const auto low = submit(test.queue, 1, 4, {}, 3), middle = submit(test.queue, 1, 4), high = submit(test.queue, 1, 4, {}, 1);
  test.gate.open();
  EXPECT_EQ(batches_of({high, middle, low}), (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_LE(middle->when_, low->when_);
}

TEST(RequestOrder, KeepsTheOrderOfArrivalInALevel) {
  Behind test({.max_batch = 0, .priority_levels = 2, .default_priority = 1});
  std::vector<std::shared_ptr<Request>> requests;
  for (const std::uint32_t level : {2, 1, 2, 1, 0}) requests.push_back(submit(test.queue, 1, 4, {}, level));
  test.gate.open();
  batches_of(requests);
  const std::vector<int> order = {1, 3, 4, 0, 2};
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_LE(requests[static_cast<std::size_t>(order[i - 1])]->when_, requests[static_cast<std::size_t>(order[i])]->when_) << i;
}

TEST(RequestOrder, HasAPolicyForEachLevel) {
  QueueOptions options{.max_batch = 1, .default_timeout = 30ms, .priority_levels = 2, .default_priority = 2};
  options.level_policies[1] = {.max_requests = 1, .allow_timeout_override = false};
  Behind test(options);
  const auto kept = submit(test.queue, 1, 4, 1ms, 1), refused = submit(test.queue, 1, 4, {}, 1), late = submit(test.queue);
  EXPECT_EQ(refused->ended_by_, EndedBy::full_queue);
  late->wait();
  EXPECT_EQ(late->ended_by_, EndedBy::timeout);
  EXPECT_EQ(kept->times(), 0);   // its own timeout does not count
  const auto another = submit(test.queue, 1, 4, 10s);
  test.gate.open();
  kept->wait(), another->wait();
  EXPECT_FALSE(kept->failed_);
}

TEST(RequestOrder, LetsLateRequestsRunBehindThoseInTime) {
  QueueOptions options{.max_batch = 0, .priority_levels = 2, .default_priority = 1};
  options.level_policies[1] = {.default_timeout = 10ms, .timeout_action = TimeoutAction::delay};
  Behind test(options);
  const auto late = submit(test.queue), below = submit(test.queue, 1, 4, {}, 2);
  std::this_thread::sleep_for(30ms);
  const auto in_time = submit(test.queue);
  EXPECT_EQ(late->times(), 0);
  test.gate.open();
  batches_of({late, below, in_time});
  EXPECT_FALSE(late->failed_);
  EXPECT_LE(in_time->when_, late->when_);
  EXPECT_LE(late->when_, below->when_);
}

TEST(RequestOrder, RefusesLevelsThatAreNone) {
  EXPECT_THROW(RequestQueue(instances(1), {.priority_levels = 2}), Error);   // without a default
  EXPECT_THROW(RequestQueue(instances(1), {.priority_levels = 2, .default_priority = 3}), Error);
  EXPECT_THROW(RequestQueue(instances(1), {.default_priority = 1}), Error);
  QueueOptions options{.priority_levels = 2, .default_priority = 1};
  options.level_policies[3] = {};
  EXPECT_THROW(RequestQueue(instances(1), options), Error);
}

TEST(RequestOrder, CountsRowsAndDoesNotLetSmallRequestsOvertake) {
  Behind test({.max_batch = 4});
  const auto a = submit(test.queue, 3), b = submit(test.queue, 2), c = submit(test.queue, 1);
  test.gate.open();
  for (const auto& request : {a, b, c}) request->wait();
  EXPECT_EQ(a->rows_of_batch_, 3);
  EXPECT_EQ(b->rows_of_batch_, 3);   // with c
}

// Short texts come without end. A long one that never fits beside the oldest of them runs all the same.
TEST(RequestOrder, LetsNoMoreThanTwoBatchesOvertake) {
  Gate gate;
  RequestQueue queue(instances(1, &gate), {.max_batch = 100, .max_tokens = 10});
  const auto first = submit_text(queue, 10);
  gate.wait_for_arrival();
  std::vector<std::shared_ptr<Request>> in_front, behind;
  for (int i = 0; i < 4; ++i) in_front.push_back(submit_text(queue, 9));
  const auto late = submit_text(queue, 5);
  for (int i = 0; i < 8; ++i) behind.push_back(submit_text(queue, 1));
  gate.open();
  for (const auto& request : behind) request->wait();
  late->wait();
  // Batches: 9+1, 9+1, 9, 9, 5 and what is left: two of the short ones overtake, the others do not.
  EXPECT_EQ(std::count_if(behind.begin(), behind.end(), [&](const auto& request) { return request->when_ < late->when_; }), 2);
  EXPECT_EQ(in_front[2]->rows_of_batch_, 1);
  EXPECT_EQ(late->rows_of_batch_, 6);   // 5 and five of 1
}

TEST(RequestOrder, FinishesInTheOrderOfArrival) {
  Gate first_gate;
  std::vector<std::unique_ptr<ServedInstance>> two = instances(1, &first_gate);
  two.push_back(std::make_unique<Instance>(nullptr, nullptr));
  RequestQueue queue(std::move(two), {.max_batch = 0, .preserve_ordering = true});
  std::vector<std::shared_ptr<Request>> requests;
  while (true) {   // until the instance behind the gate has one; the other has run those before
    requests.push_back(submit(queue));
    std::this_thread::sleep_for(2ms);
    if (requests.back()->times() == 0) break;
  }
  first_gate.wait_for_arrival();
  const auto held = submit(queue), last = submit(queue);
  while (queue.statistics().waiting > 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(requests.back()->times(), 0);
  EXPECT_EQ(held->times(), 0);         // the free instance has run it
  first_gate.open();
  held->wait(), last->wait();
  EXPECT_EQ(requests.back()->times(), 1);
  EXPECT_LE(requests.back()->when_, held->when_);
  EXPECT_LE(held->when_, last->when_);
}

}  // namespace
}  // namespace tenfold::queue_tests
