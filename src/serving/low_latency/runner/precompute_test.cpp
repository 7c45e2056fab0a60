// Runners of engines with early steps: answers are those of whole windows, whatever was computed early.
#include "low_latency/ring/messages.h"
#include "low_latency/sliding_for_tests.h"
#include "tenfold/bindings.h"

namespace tenfold {
namespace {

using namespace low_latency;
using namespace std::chrono_literals;

constexpr int kOut = SlidingLstm::kUnits;

class Early : public testing::Test {
 protected:
  void expect_right(const std::vector<float>& window, const float* y) {
    float expected[kOut] = {};
    ASSERT_TRUE(whole_.infer(window.data(), expected).status);
    for (int i = 0; i < kOut; ++i) ASSERT_NEAR(y[i], expected[i], 1e-6);
  }
  Answer answer_to(const std::vector<float>& window, std::int64_t due_ns = 0) {
    float y[kOut] = {};
    const Answer a = runner_.infer(window.data(), y, due_ns);
    EXPECT_TRUE(a.status);
    expect_right(window, y);
    return a;
  }
  // Of a thread; every answer is compared.
  Answer answer_to(RunnerPort& port, const std::vector<float>& window, std::int64_t due_ns = 0) {
    float y[kOut] = {};
    EXPECT_TRUE(port.submit(1, window.data(), due_ns));
    Answer a;
    while (!port.poll(a, y)) std::this_thread::yield();
    EXPECT_TRUE(a.status);
    expect_right(window, y);
    return a;
  }
  const Engine engine_ = SlidingLstm::engine("x:1");
  LatencyRunner runner_{engine_}, whole_{SlidingLstm::engine("")};
};

// TENFOLD_ROWS=100000 is the long form.
int rows_of_stream() {
  const char* const text = std::getenv("TENFOLD_ROWS");
  return text ? std::atoi(text) : 3000;
}

TEST_F(Early, AStreamWithStartsResetsAndGaps) {
  ASSERT_GT(engine_.info().precomputed_steps, 0);
  std::uint64_t wholes = 0;
  std::int64_t row = 0;
  for (int i = 0; i < rows_of_stream(); ++i, ++row) {
    if (i % 50 == 20) row += 5;                    // a gap
    if (i % 400 == 100) row = 0;                   // a reset
    std::vector<float> window = sliding_window(0, row);
    const bool early = i % 7 != 3, wrong = i % 11 == 5;
    if (early) {
      std::vector<float> next = wrong ? sliding_window(1, row) : window;
      for (int f = 0; f < SlidingLstm::kFeatures; ++f) next[static_cast<std::size_t>(SlidingLstm::kWindow - 1 - f)] = 1e9f;
      ASSERT_TRUE(runner_.precompute(next.data()).code == Status::ok);
    }
    const Answer a = answer_to(window);
    ASSERT_EQ(a.full_recompute, !early || wrong) << i;
    ASSERT_FALSE(a.late_start);
    wholes += a.full_recompute;
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(runner_.counts().full_recompute, wholes);
  EXPECT_EQ(runner_.counts().late_start, 0u);
  EXPECT_EQ(runner_.counts().answered, static_cast<std::uint64_t>(rows_of_stream()));
}

TEST_F(Early, OneValueThatDiffersIsSeen) {
  for (int i = 0; i < SlidingLstm::kWindow; ++i) {
    std::vector<float> window = sliding_window(0, 7);
    ASSERT_TRUE(runner_.precompute(window.data()));
    window[static_cast<std::size_t>(i)] += 0.5f;
    EXPECT_EQ(answer_to(window).full_recompute, i < SlidingLstm::kWindow - SlidingLstm::kFeatures) << i;
  }
}

TEST_F(Early, ARowThatComesTooEarlyIsBehind) {
  const std::int64_t before = now_ns();
  ASSERT_TRUE(runner_.precompute(sliding_window(0, 0).data()));
  const Answer a = answer_to(sliding_window(0, 0), before);
  EXPECT_TRUE(a.late_start);
  EXPECT_FALSE(a.full_recompute);
  EXPECT_TRUE(answer_to(sliding_window(0, 1), a.ended_ns - 1).late_start) << "the answer before it was not there";
  ASSERT_TRUE(runner_.precompute(sliding_window(0, 2).data()));
  EXPECT_FALSE(answer_to(sliding_window(0, 2)).late_start);
  EXPECT_EQ(runner_.counts().late_start, 2u);
  EXPECT_EQ(runner_.counts().full_recompute, 1u);
}

TEST_F(Early, WhatIsDoneBetweenTheTwo) {
  ASSERT_TRUE(runner_.precompute(sliding_window(0, 3).data()));
  runner_.keep_warm();
  EXPECT_FALSE(answer_to(sliding_window(0, 3)).full_recompute) << "what keeps warm leaves the rows";
  ASSERT_TRUE(runner_.precompute(sliding_window(0, 4).data()));
  runner_.swap(engine_);
  EXPECT_TRUE(answer_to(sliding_window(0, 4)).full_recompute) << "the new engine has computed nothing early";
  EXPECT_TRUE(whole_.precompute(sliding_window(0, 0).data())) << "an engine without early steps does nothing";
  EXPECT_EQ(whole_.counts().full_recompute + whole_.counts().late_start, 0u);
}

TEST_F(Early, ACandidateWithoutEarlyStepsAnswersInPlaceOfOneThatHasThem) {
  LatencyRunner runner({{"early", [this] { return engine_; }}, {"full_recompute", [] { return SlidingLstm::engine(""); }}},
                       {.deadline = 1ns});
  EXPECT_EQ(runner.window_rows().input, 0);
  float y[kOut] = {};
  for (int row = 0; row < 5; ++row) {
    const std::vector<float> window = sliding_window(0, row), other = sliding_window(1, row);
    ASSERT_TRUE(runner.precompute((row == 0 ? other : window).data()));
    const Answer a = runner.infer(window.data(), y);
    ASSERT_TRUE(a.status);
    EXPECT_EQ(a.candidate, 1) << "no run ends within a nanosecond";
    EXPECT_FALSE(a.full_recompute);
    expect_right(window, y);
  }
}

TEST_F(Early, AThreadExpectsTheNextWindow) {
  RunnerPort port = runner_.open_port();
  const RunnerThread thread({&runner_});
  EXPECT_EQ(runner_.precompute(sliding_window(0, 0).data()).code, Status::not_ready) << "the thread has it";
  const auto fits = [&](std::int64_t row) {   // whether the rows before its newest were there; a busy machine may need some
    std::this_thread::sleep_for(2ms);
    const Answer a = answer_to(port, sliding_window(0, row));
    return !a.full_recompute && !a.late_start;
  };
  std::int64_t row = 0;
  int fitted = 0;
  for (int i = 0; i < 100; ++i) fitted += fits(row++);
  EXPECT_GE(fitted, 20);
  row += 3;
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(answer_to(port, sliding_window(0, row++)).full_recompute) << "a gap";
  EXPECT_TRUE(comes_true([&] { return fits(row++); }));
  const Answer last = answer_to(port, sliding_window(0, row++));
  EXPECT_TRUE(answer_to(port, sliding_window(0, row++), last.ended_ns - 1).late_start);
  for (int i = 0; i < 12; ++i) {   // two streams in turn: nothing is expected any more
    EXPECT_TRUE(answer_to(port, sliding_window(1, 40 + i)).full_recompute);
    EXPECT_TRUE(answer_to(port, sliding_window(2, 90 + i)).full_recompute);
  }
  row = 1000;
  EXPECT_TRUE(comes_true([&] { return fits(row++); })) << "one stream again";
  const RunnerCounts c = runner_.counts();
  EXPECT_GE(c.full_recompute, 25u);
  EXPECT_GE(c.late_start, 1u);
}

TEST_F(Early, RowsThatDoNotLieOneBehindTheOther) {
  const Engine engine = SlidingConvolutions::engine("x:2");
  ASSERT_GT(engine.info().precomputed_steps, 0);
  const WindowRows rows = window_rows(engine);
  EXPECT_EQ(rows.input, 0);
  EXPECT_EQ(rows.axis, 2);
  LatencyRunner runner(engine), whole(SlidingConvolutions::engine(""));
  constexpr int kRows = SlidingConvolutions::kRows, kAll = SlidingConvolutions::kChannels * kRows;
  const auto window = [&](int first) {
    std::vector<float> x(kAll);
    for (int i = 0; i < kAll; ++i) x[static_cast<std::size_t>(i)] = std::sin(static_cast<float>(100 * (i / kRows) + first + i % kRows));
    return x;
  };
  const auto compare = [&](const std::vector<float>& x, const float* y) {
    float expected[4] = {};
    ASSERT_TRUE(whole.infer(x.data(), expected).status);
    for (int i = 0; i < 4; ++i) ASSERT_NEAR(y[i], expected[i], 1e-6);
  };
  float y[4] = {};
  for (int row = 0; row < 50; ++row) {
    std::vector<float> x = window(row);
    ASSERT_TRUE(runner.precompute(x.data()));
    for (int c = 1; c <= SlidingConvolutions::kChannels; ++c) x[static_cast<std::size_t>(c * kRows - 1)] += 1;
    EXPECT_FALSE(runner.infer(x.data(), y).full_recompute);
    compare(x, y);
    ASSERT_TRUE(runner.precompute(x.data()));
    x[20] += 1;   // a row in the middle
    EXPECT_TRUE(runner.infer(x.data(), y).full_recompute);
    compare(x, y);
  }
  RunnerPort port = runner.open_port();
  const RunnerThread thread({&runner});
  for (int row = 0; row < 10; ++row) {   // the thread cannot move these up as a whole
    Answer a;
    ASSERT_TRUE(port.submit(1, window(row).data()));
    while (!port.poll(a, y)) std::this_thread::yield();
    EXPECT_TRUE(a.full_recompute);
    compare(window(row), y);
  }
}

}  // namespace
}  // namespace tenfold
