// The queue with instances that are none: what runs together, what is refused, how each request ends once.
#include <random>

#include "queue/queue_for_tests.h"

namespace tenfold::queue_tests {
namespace {

TEST(RequestQueue, PutsWhatWaitsIntoFullBatches) {
  Behind test({.max_batch = 4});
  std::vector<std::shared_ptr<Request>> requests;
  for (int i = 0; i < 9; ++i) requests.push_back(submit(test.queue));
  EXPECT_EQ(test.queue.statistics().waiting, 9u);
  test.gate.open();
  for (const auto& request : requests) request->wait();
  EXPECT_EQ(requests[0]->rows_of_batch_, 4);
  EXPECT_EQ(requests[7]->rows_of_batch_, 4);
  EXPECT_EQ(requests[8]->rows_of_batch_, 1);
  EXPECT_EQ(closed(test.queue, BatchClosed::full), 3u);   // with the first request
  EXPECT_EQ(closed(test.queue, BatchClosed::idle), 1u);
  const QueueStatistics s = test.queue.statistics();
  EXPECT_EQ(s.executions, 4u);
  EXPECT_EQ(s.inferences, 13u);
  EXPECT_EQ(s.batches.at(4).compute_infer.count, 3u);
  EXPECT_EQ(s.success.count, 10u);
  EXPECT_GT(s.queue.ns, 0u);
}

TEST(RequestQueue, KeepsShapesApart) {
  Behind test({.max_batch = 8, .max_delay = 10s});
  const auto a = submit(test.queue, 1, 4), b = submit(test.queue, 1, 5), c = submit(test.queue, 2, 4);
  test.gate.open();
  a->wait();   // without the delay, for another shape waits
  EXPECT_EQ(a->rows_of_batch_, 3);
  c->wait();
  EXPECT_GE(closed(test.queue, BatchClosed::shape), 1u);
  test.queue.stop();   // b would wait for 10 s
  EXPECT_EQ(b->rows_of_batch_, 1);
}

TEST(RequestQueue, FillsBatchesByTokens) {
  Behind test({.max_batch = 100, .max_tokens = 10});
  const auto a = submit_text(test.queue, 6), longer = submit_text(test.queue, 9), b = submit_text(test.queue, 4),
             huge = submit_text(test.queue, 50), c = submit_text(test.queue, 1);
  test.gate.open();
  for (const auto& request : {a, longer, b, huge, c}) request->wait();
  EXPECT_EQ(a->rows_of_batch_, 2);      // with b, which the longer one does not hold back
  EXPECT_EQ(b->rows_of_batch_, 2);
  EXPECT_EQ(longer->rows_of_batch_, 2);   // with c
  EXPECT_EQ(huge->rows_of_batch_, 1);   // above the budget by itself
  EXPECT_EQ(closed(test.queue, BatchClosed::tokens), 3u);
}

TEST(RequestQueue, HasATokenBudgetOfOne) {
  Behind test({.max_batch = 100, .max_tokens = 1});
  const auto a = submit_text(test.queue, 1), b = submit_text(test.queue, 7), c = submit_text(test.queue, 1);
  test.gate.open();
  for (const auto& request : {a, b, c}) {
    request->wait();
    EXPECT_EQ(request->rows_of_batch_, 1);
  }
}

TEST(RequestQueue, RunsEachAloneWithoutABatchDim) {
  Behind test({.max_batch = 0});
  const auto a = submit(test.queue, 5), b = submit(test.queue, 5);
  test.gate.open();
  a->wait(), b->wait();
  EXPECT_EQ(a->rows_of_batch_, 5);
  EXPECT_EQ(test.queue.statistics().executions, 3u);
}

TEST(RequestQueue, RefusesWhatIsMoreThanItHolds) {
  Behind test({.max_batch = 4, .max_requests = 2});
  const auto a = submit(test.queue), b = submit(test.queue), c = submit(test.queue);
  EXPECT_EQ(c->times(), 1);
  EXPECT_TRUE(c->failed_);
  EXPECT_EQ(c->ended_by_, EndedBy::full_queue);
  test.gate.open();
  a->wait(), b->wait();
  EXPECT_FALSE(a->failed_);
  const QueueStatistics s = test.queue.statistics();
  EXPECT_EQ(s.rejected, 1u);
  EXPECT_EQ(s.received, 4u);
}

TEST(RequestQueue, TakesListsAsItTakesSingleRequests) {
  Behind test({.max_batch = 4, .max_requests = 2});
  const auto list = [&](std::size_t count) {
    std::vector<std::shared_ptr<ServedRequest>> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(std::make_shared<Request>(1, 4));
    test.queue.submit(all);
    return all;
  };
  const auto times = [](const std::shared_ptr<ServedRequest>& request) { return dynamic_cast<Request&>(*request).times(); };
  const auto taken = list(5);   // more than may wait: the queue is not full yet
  const auto single = submit(test.queue);
  const auto refused = list(2);
  EXPECT_EQ(times(taken[4]), 0);
  EXPECT_EQ(single->ended_by_, EndedBy::full_queue);
  for (const auto& request : refused) EXPECT_EQ(times(request), 1);
  test.gate.open();
  test.queue.stop();
  for (const auto& request : taken) EXPECT_EQ(times(request), 1);
  EXPECT_EQ(test.queue.statistics().rejected, 3u);
}

TEST(RequestQueue, TakesCancelledRequestsOut) {
  Behind test({.max_batch = 4});
  const auto a = submit(test.queue), b = submit(test.queue);
  EXPECT_TRUE(test.queue.cancel(*a));
  EXPECT_FALSE(test.queue.cancel(*a));
  EXPECT_FALSE(test.queue.cancel(*test.first));   // it runs
  EXPECT_EQ(a->ended_by_, EndedBy::cancel);
  test.gate.open();
  b->wait();
  EXPECT_EQ(b->rows_of_batch_, 1);
  EXPECT_EQ(test.queue.statistics().cancelled, 1u);
}

TEST(RequestQueue, CountsFailures) {
  ErrorKind device = ErrorKind::device;
  RequestQueue queue(instances(1, nullptr, &device), {.max_batch = 4});
  const auto a = submit(queue);
  a->wait();
  const QueueStatistics s = queue.statistics();
  EXPECT_EQ(s.failed, 1u);
  EXPECT_EQ(s.failure.count, 1u);
  EXPECT_EQ(s.executions, 0u);
}

TEST(RequestQueue, AnswersWhatItAcceptedWhenItStops) {
  auto test = std::make_unique<Behind>(QueueOptions{.max_batch = 4, .max_delay = 60s});
  std::vector<std::shared_ptr<Request>> requests;
  for (int i = 0; i < 6; ++i) requests.push_back(submit(test->queue));
  std::thread stopping([&] { test->queue.stop(); });
  while (true) {
    const auto late = submit(test->queue);
    requests.push_back(late);
    if (late->times() == 0) {   // accepted before stop() came
      std::this_thread::sleep_for(1ms);
      continue;
    }
    EXPECT_EQ(late->ended_by_, EndedBy::stop);
    requests.pop_back();
    break;
  }
  test->gate.open();
  stopping.join();
  for (const auto& request : requests) {
    EXPECT_EQ(request->times(), 1);
    EXPECT_FALSE(request->failed_);
  }
}

// Threads submit, cancel and time out at random: each request ends once, and the sums agree.
class RandomRequests : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Ordered, RandomRequests, testing::Bool());
TEST_P(RandomRequests, EndOnceEach) {
  QueueOptions options{.max_batch = 8, .preferred_rows = {4}, .max_delay = 200us, .max_requests = 64};
  options.priority_levels = 3, options.default_priority = 2, options.preserve_ordering = GetParam();
  options.level_policies[3] = {.max_requests = 16, .timeout_action = TimeoutAction::delay};
  RequestQueue queue(instances(3), options);
  constexpr int kThreads = 4, kEach = 3000;
  std::vector<std::vector<std::shared_ptr<Request>>> all(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < kEach; ++i) {
        const auto timeout = random() % 4 == 0 ? std::chrono::microseconds(1 + random() % 300) : 0us;
        all[static_cast<std::size_t>(t)].push_back(submit(queue, 1 + random() % 3, 4 + random() % 2, timeout, random() % 4));
        if (random() % 5 == 0) queue.cancel(*all[static_cast<std::size_t>(t)][random() % all[static_cast<std::size_t>(t)].size()]);
      }
    });
  for (std::thread& thread : threads) thread.join();
  queue.stop();
  std::uint64_t rows = 0;
  for (const auto& requests : all)
    for (const auto& request : requests) {
      ASSERT_EQ(request->times(), 1);
      if (!request->failed_) rows += static_cast<std::uint64_t>(request->rows());
      EXPECT_LE(request->rows_of_batch_, 8);
    }
  const QueueStatistics s = queue.statistics();
  EXPECT_EQ(s.received, static_cast<std::uint64_t>(kThreads * kEach));
  EXPECT_EQ(s.success.count + s.failed + s.rejected + s.cancelled, s.received);
  EXPECT_EQ(s.success.count + s.failure.count, s.received);
  EXPECT_EQ(s.inferences, rows);
  EXPECT_EQ(s.waiting, 0u);
}

}  // namespace
}  // namespace tenfold::queue_tests
