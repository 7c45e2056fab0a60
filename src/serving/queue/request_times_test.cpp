// What the queue does by the clock: delays of batches, timeouts of requests.
#include "queue/queue_for_tests.h"

namespace tenfold::queue_tests {
namespace {

TEST(RequestTimes, WaitsForTheDelayAndNotLonger) {
  RequestQueue queue(instances(1), {.max_batch = 8, .max_delay = 30ms});
  const auto start = Clock::now();
  const auto a = submit(queue);
  std::this_thread::sleep_for(5ms);
  const auto b = submit(queue);
  a->wait(), b->wait();
  EXPECT_EQ(a->rows_of_batch_, 2);
  EXPECT_GE(a->when_ - start, 30ms);
  EXPECT_EQ(closed(queue, BatchClosed::delay), 1u);
}

TEST(RequestTimes, RunsAtPreferredSizesWithoutTheDelay) {
  RequestQueue queue(instances(1), {.max_batch = 8, .preferred_rows = {2}, .max_delay = 60s});
  const auto a = submit(queue), b = submit(queue);
  a->wait(), b->wait();
  EXPECT_EQ(a->rows_of_batch_, 2);
  EXPECT_EQ(closed(queue, BatchClosed::preferred), 1u);
}

// As in Triton: the largest preferred size that there is, until the delay has passed; then all that fit.
TEST(RequestTimes, TakesPreferredSizesUntilTheDelayHasPassed) {
  std::vector<std::shared_ptr<Request>> requests;
  {
    Behind test({.max_batch = 8, .preferred_rows = {2, 4}, .max_delay = 60s});
    for (int i = 0; i < 8; ++i) requests.push_back(submit(test.queue));
    test.gate.open();
    EXPECT_EQ(batches_of(requests), std::vector<std::int64_t>(8, 4));
    EXPECT_EQ(closed(test.queue, BatchClosed::preferred), 2u);
    const auto a = submit(test.queue, 3), b = submit(test.queue, 3);   // more than 4 together, so the first runs alone
    a->wait();
    EXPECT_EQ(a->rows_of_batch_, 3);
    test.queue.stop();
    EXPECT_EQ(b->rows_of_batch_, 3);
  }
  requests.clear();
  Behind test({.max_batch = 8, .preferred_rows = {4}, .max_delay = 20ms});
  for (int i = 0; i < 7; ++i) requests.push_back(submit(test.queue));
  std::this_thread::sleep_for(40ms);
  test.gate.open();
  EXPECT_EQ(batches_of(requests), std::vector<std::int64_t>(7, 7));
  EXPECT_EQ(closed(test.queue, BatchClosed::delay), 1u);
}

TEST(RequestTimes, EndsATimeoutWhenItIsDueThoughTheModelIsBusy) {
  Behind test({.max_batch = 4});
  const auto start = Clock::now();
  const auto late = submit(test.queue, 1, 4, 40ms), without = submit(test.queue);
  late->wait();
  EXPECT_EQ(late->ended_by_, EndedBy::timeout);
  EXPECT_GE(late->when_ - start, 40ms);
  EXPECT_EQ(without->times(), 0);
  test.gate.open();
  without->wait();
  EXPECT_FALSE(without->failed_);
  EXPECT_EQ(late->times(), 1);
}

TEST(RequestTimes, HasATimeoutForAllThatRequestsMayShorten) {
  Behind test({.max_batch = 4, .default_timeout = 60ms});
  const auto start = Clock::now();
  const auto a = submit(test.queue), longer = submit(test.queue, 1, 4, 10s), shorter = submit(test.queue, 1, 4, 20ms);
  shorter->wait();
  EXPECT_EQ(a->times(), 0);
  a->wait(), longer->wait();
  EXPECT_GE(longer->when_ - start, 60ms);
  EXPECT_EQ(longer->ended_by_, EndedBy::timeout);
}

}  // namespace
}  // namespace tenfold::queue_tests
