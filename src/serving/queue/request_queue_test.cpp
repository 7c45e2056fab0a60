// The queue with instances that are none: what runs together, what is refused, what ends when.
#include "tenfold/serving/request_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

namespace tenfold {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A gate that instances wait at, so that tests decide what has queued before a batch is made.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_for_arrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

class Request final : public ServedRequest {
 public:
  Request(std::int64_t rows, std::int64_t width, std::int64_t tokens = 0)
      : shape_{rows, width}, inputs_{{"x", DType::f32, shape_, {}, nullptr}}, tokens_(tokens) {}
  std::int64_t tokens() const override { return tokens_; }
  std::span<const RequestInput> inputs() const override { return inputs_; }
  void* output_memory(int, std::span<const std::int64_t>, std::int64_t) override { return nullptr; }
  void take_strings(int, std::span<const std::int64_t>, std::span<const std::string>) override {}
  void finish(const RequestOutcome& outcome) noexcept override {
    const std::lock_guard lock(mutex_);
    ++times_, ended_by_ = outcome.ended_by, failed_ = outcome.error != nullptr, when_ = Clock::now();
    if (outcome.run) rows_of_batch_ = outcome.run->rows;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return times_ > 0; });
  }
  int times() {
    const std::lock_guard lock(mutex_);
    return times_;
  }
  std::int64_t rows() const { return shape_[0]; }

  EndedBy ended_by_ = EndedBy::run;
  bool failed_ = false;
  std::int64_t rows_of_batch_ = 0;
  Clock::time_point when_;

 private:
  std::vector<std::int64_t> shape_;
  std::vector<RequestInput> inputs_;
  std::int64_t tokens_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int times_ = 0;
};

class Instance final : public ServedInstance {
 public:
  Instance(Gate* gate, ErrorKind* failure) : gate_(gate), failure_(failure) {}
  const std::string& device() const noexcept override { return device_; }
  std::int64_t memory_bytes() const noexcept override { return 0; }
  void run(std::span<ServedRequest* const> requests, std::vector<BatchRun>*) noexcept override {
    BatchRun run{static_cast<int>(requests.size()), 0, Clock::now(), {}, {}, {}};
    if (gate_) gate_->pass();
    for (const ServedRequest* request : requests) run.rows += request->inputs()[0].shape[0];
    run.compute_start = run.compute_end = run.end = Clock::now();
    for (ServedRequest* request : requests) {
      const Error error(failure_ ? *failure_ : ErrorKind::internal, "it failed");
      request->finish({failure_ ? &error : nullptr, failure_ ? nullptr : &run});
    }
  }

 private:
  std::string device_ = "cpu";
  Gate* gate_;
  ErrorKind* failure_;
};

std::vector<std::unique_ptr<ServedInstance>> instances(int count, Gate* gate = nullptr, ErrorKind* failure = nullptr) {
  std::vector<std::unique_ptr<ServedInstance>> made;
  for (int i = 0; i < count; ++i) made.push_back(std::make_unique<Instance>(gate, failure));
  return made;
}

std::shared_ptr<Request> submit(RequestQueue& queue, std::int64_t rows = 1, std::int64_t width = 4,
                                std::chrono::microseconds timeout = {}, std::uint32_t priority = 0) {
  const auto request = std::make_shared<Request>(rows, width);
  queue.submit(request, timeout, priority);
  return request;
}
std::shared_ptr<Request> submit_text(RequestQueue& queue, std::int64_t tokens) {
  const auto request = std::make_shared<Request>(1, 1 + tokens, tokens);   // of any shapes
  queue.submit(request);
  return request;
}
std::uint64_t closed(const RequestQueue& queue, BatchClosed reason) {
  return queue.statistics().closed[static_cast<std::size_t>(reason)];
}

// One request is at the gate, and what the test submits queues behind it.
class Behind {
 public:
  Behind(QueueOptions options) : queue(instances(1, &gate), options) {
    first = submit(queue, std::max<std::int64_t>(options.max_batch, 1), 9);   // a full batch, which waits for no other
    gate.wait_for_arrival();
  }
  ~Behind() { gate.open(); }   // or the queue would not stop
  Gate gate;
  RequestQueue queue;
  std::shared_ptr<Request> first;
};

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

TEST(RequestQueue, CountsRowsAndDoesNotLetSmallRequestsOvertake) {
  Behind test({.max_batch = 4});
  const auto a = submit(test.queue, 3), b = submit(test.queue, 2), c = submit(test.queue, 1);
  test.gate.open();
  for (const auto& request : {a, b, c}) request->wait();
  EXPECT_EQ(a->rows_of_batch_, 3);
  EXPECT_EQ(b->rows_of_batch_, 3);   // with c
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

TEST(RequestQueue, WaitsForTheDelayAndNotLonger) {
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

TEST(RequestQueue, RunsAtPreferredSizesWithoutTheDelay) {
  RequestQueue queue(instances(1), {.max_batch = 8, .preferred_rows = {2}, .max_delay = 60s});
  const auto a = submit(queue), b = submit(queue);
  a->wait(), b->wait();
  EXPECT_EQ(a->rows_of_batch_, 2);
  EXPECT_EQ(closed(queue, BatchClosed::preferred), 1u);
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

// Short texts come without end. A long one that never fits beside the oldest of them runs all the same.
TEST(RequestQueue, LetsNoMoreThanTwoBatchesOvertake) {
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

TEST(RequestQueue, EndsATimeoutWhenItIsDueThoughTheModelIsBusy) {
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

TEST(RequestQueue, HasATimeoutForAllThatRequestsMayShorten) {
  Behind test({.max_batch = 4, .default_timeout = 60ms});
  const auto start = Clock::now();
  const auto a = submit(test.queue), longer = submit(test.queue, 1, 4, 10s), shorter = submit(test.queue, 1, 4, 20ms);
  shorter->wait();
  EXPECT_EQ(a->times(), 0);
  a->wait(), longer->wait();
  EXPECT_GE(longer->when_ - start, 60ms);
  EXPECT_EQ(longer->ended_by_, EndedBy::timeout);
}

std::vector<std::int64_t> batches_of(const std::vector<std::shared_ptr<Request>>& requests) {
  std::vector<std::int64_t> rows;
  for (const auto& request : requests) request->wait(), rows.push_back(request->rows_of_batch_);
  return rows;
}

TEST(RequestQueue, RunsHigherLevelsFirstAndFillsBatchesFromLowerOnes) {
  Behind test({.max_batch = 2, .priority_levels = 3, .default_priority = 2});
  const auto low = submit(test.queue, 1, 4, {}, 3), middle = submit(test.queue, 1, 4), high = submit(test.queue, 1, 4, {}, 1);
  test.gate.open();
  EXPECT_EQ(batches_of({high, middle, low}), (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_LE(middle->when_, low->when_);
}

TEST(RequestQueue, KeepsTheOrderOfArrivalInALevel) {
  Behind test({.max_batch = 0, .priority_levels = 2, .default_priority = 1});
  std::vector<std::shared_ptr<Request>> requests;
  for (const std::uint32_t level : {2, 1, 2, 1, 0}) requests.push_back(submit(test.queue, 1, 4, {}, level));
  test.gate.open();
  batches_of(requests);
  const std::vector<int> order = {1, 3, 4, 0, 2};
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_LE(requests[static_cast<std::size_t>(order[i - 1])]->when_, requests[static_cast<std::size_t>(order[i])]->when_) << i;
}

TEST(RequestQueue, HasAPolicyForEachLevel) {
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

TEST(RequestQueue, LetsLateRequestsRunBehindThoseInTime) {
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

TEST(RequestQueue, RefusesLevelsThatAreNone) {
  EXPECT_THROW(RequestQueue(instances(1), {.priority_levels = 2}), Error);   // without a default
  EXPECT_THROW(RequestQueue(instances(1), {.priority_levels = 2, .default_priority = 3}), Error);
  EXPECT_THROW(RequestQueue(instances(1), {.default_priority = 1}), Error);
  QueueOptions options{.priority_levels = 2, .default_priority = 1};
  options.level_policies[3] = {};
  EXPECT_THROW(RequestQueue(instances(1), options), Error);
}

// As in Triton: the largest preferred size that there is, until the delay has passed; then all that fit.
TEST(RequestQueue, TakesPreferredSizesUntilTheDelayHasPassed) {
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

TEST(RequestQueue, FinishesInTheOrderOfArrival) {
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
}  // namespace tenfold
