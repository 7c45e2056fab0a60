// Candidates: which are opened and compared, when one is left and comes back, what becomes of the request under way.
#include <filesystem>
#include <fstream>

#include "low_latency/low_latency_for_tests.h"

namespace tenfold {
namespace {

using namespace low_latency;
using namespace std::chrono_literals;

const float kX[16] = {1, 2, 3, 4};

RunnerOptions quick(Reported& reported) {
  RunnerOptions options;
  options.warm_up_runs = 2, options.first_pause = 30ms, options.longest_pause = 200ms, options.log = reported.callback();
  return options;
}

TEST(Candidates, OneThatFailsIsLeftAndTheSameRequestAnswered) {
  Reported reported;
  const Troubled engine, cpu;
  LatencyRunner runner({engine.candidate("engine"), cpu.candidate("cpu")}, quick(reported));
  float y[16] = {};
  EXPECT_EQ(runner.infer(kX, y).candidate, 0);
  engine.wish->fail = true;
  const Answer a = runner.infer(kX, y);
  EXPECT_TRUE(a.status);
  EXPECT_EQ(a.candidate, 1);
  EXPECT_EQ(y[3], 5);
  EXPECT_EQ(runner.backend(), "cpu");
  EXPECT_TRUE(runner.ready());
  const int runs = engine.wish->runs;
  EXPECT_EQ(runner.infer(kX, y).candidate, 1);
  EXPECT_EQ(engine.wish->runs, runs) << "a candidate that was left is not asked";
  EXPECT_EQ(runner.counts().fell, 1u);
  EXPECT_TRUE(comes_true([&] { return reported.has("the candidate 'engine' was left: a run failed after"); })) << reported.text();

  EXPECT_TRUE(comes_true([&] { return engine.wish->runs >= runs + 2; })) << "probed aside";
  EXPECT_EQ(runner.backend(), "cpu") << "as long as probes fail";
  engine.wish->fail = false;
  EXPECT_TRUE(comes_true([&] { return runner.backend() == "engine"; })) << reported.text();
  EXPECT_TRUE(comes_true([&] { return reported.has("'engine' is back after 10 good answers"); }));
  EXPECT_EQ(runner.infer(kX, y).candidate, 0);
  EXPECT_EQ(runner.candidates()[0].left, 1u);
}

TEST(Candidates, AProbeWhoseAnswerIsWrongBringsNothingBack) {
  Reported reported;
  const Troubled engine, cpu;
  LatencyRunner runner({engine.candidate("engine"), cpu.candidate("cpu")}, quick(reported));
  engine.wish->fail = true;
  float y[16];
  runner.infer(kX, y);
  engine.wish->wrong = true, engine.wish->fail = false;
  EXPECT_TRUE(comes_true([&] { return runner.candidates()[0].why == "a probe's answer was wrong"; })) << runner.candidates()[0].why;
  EXPECT_EQ(runner.backend(), "cpu");
}

TEST(Candidates, TheDeadlineIsKeptByTheNextOne) {
  Reported reported;
  const Troubled engine, cpu;
  RunnerOptions options = quick(reported);
  options.deadline = 60ms;
  LatencyRunner runner({engine.candidate("engine"), cpu.candidate("cpu")}, options);
  float y[16] = {};
  EXPECT_FALSE(runner.infer(kX, y).late);
  engine.wish->sleep_ns = 150'000'000;
  const Answer late = runner.infer(kX, y);
  EXPECT_TRUE(late.status && late.late);
  EXPECT_EQ(y[0], 2);
  const Answer next = runner.infer(kX, y);
  EXPECT_EQ(next.candidate, 1) << "the slow one was left at once";
  EXPECT_FALSE(next.late);
  EXPECT_EQ(runner.counts().late, 1u);
  EXPECT_TRUE(comes_true([&] { return reported.has("'engine' was left: it took 1"); })) << reported.text();
  EXPECT_TRUE(reported.has("and the deadline is 60 ms")) << reported.text();
  cpu.wish->sleep_ns = 150'000'000;
  const Answer last = runner.infer(kX, y);
  EXPECT_TRUE(last.status && last.late) << "the last one goes on, and is told as late";
  EXPECT_EQ(last.candidate, 1);
}

// Who asks for the LatencyRunner's health, or for another engine, waits for no candidate that is tried aside.
TEST(Candidates, AProbeThatHangsHoldsUpNobody) {
  Reported reported;
  const Troubled engine, cpu;
  LatencyRunner runner({engine.candidate("engine"), cpu.candidate("cpu")}, quick(reported));
  float y[16];
  engine.wish->fail = true;
  runner.infer(kX, y);
  engine.wish->fail = false, engine.wish->sleep_ns = 1'000'000'000;
  const int before = engine.wish->runs;
  ASSERT_TRUE(comes_true([&] { return engine.wish->runs > before; })) << "no probe has begun";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(runner.ready());
  EXPECT_EQ(runner.backend(), "cpu");
  EXPECT_EQ(runner.candidates().size(), 2u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 500ms);
  engine.wish->sleep_ns = 0;
}

TEST(Candidates, StrictForbidsTheNext) {
  const Troubled engine, cpu;
  LatencyRunner runner({engine.candidate("engine"), cpu.candidate("cpu")}, {.strict = true, .warm_up_runs = 1});
  float y[16];
  engine.wish->fail = true;
  const Answer a = runner.infer(kX, y);
  EXPECT_EQ(a.status.code, Status::failed);
  EXPECT_EQ(a.candidate, 0);
  EXPECT_EQ(cpu.wish->runs, 1) << "only to warm it";
  EXPECT_EQ(runner.counts().failed, 1u);
}

std::string plan_file(const std::string& name, const std::string& bytes) {
  const std::string path = (std::filesystem::temp_directory_path() / ("candidates_test_" + std::to_string(::getpid()) + name)).string();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(Candidates, PlansThatAreMissingCutOrFlippedAreRefusedWithTheReason) {
  const ToyCnn cnn;
  const auto plan = cnn.engine().serialize();
  const std::string bytes(reinterpret_cast<const char*>(plan.data()), plan.size());
  std::string flipped = bytes;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x10);
  const std::string cut = plan_file("cut.plan", bytes.substr(0, bytes.size() - 100)), bad = plan_file("flipped.plan", flipped);
  for (const std::string& path : {std::string("/nowhere/missing.plan"), cut, bad}) {
    Reported reported;
    const EngineCandidate direct{"direct", [&] { return cnn.engine(); }};
    LatencyRunner runner({plan_candidate(path), direct}, {.log = reported.callback()});
    EXPECT_EQ(runner.backend(), "direct");
    const CandidateState first = runner.candidates()[0];
    EXPECT_FALSE(first.opened || first.answers);
    EXPECT_FALSE(first.why.empty());
    EXPECT_TRUE(reported.has("the candidate '" + path + "' is not used: " + first.why)) << reported.text();
    alignas(64) float y[16];
    EXPECT_EQ(runner.infer(cnn.input(1).data(), y).candidate, 1);
    try {
      LatencyRunner strict({plan_candidate(path), direct}, {.strict = true});
      ADD_FAILURE() << path;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), path == cut || path == bad ? ErrorKind::plan_refused : ErrorKind::io) << e.what();
      EXPECT_NE(std::string(e.what()).find(first.why), std::string::npos) << e.what();
    }
  }
  std::filesystem::remove(cut), std::filesystem::remove(bad);
}

TEST(Candidates, APlanOlderThanItsModelShows) {
  Reported reported;
  const ToyCnn before(1), now(2);
  const std::vector<EngineCandidate> candidates = {{"engine", [&] { return before.engine(); }}, {"cpu", [&] { return now.engine(); }}};
  LatencyRunner runner(candidates, {.log = reported.callback()});
  EXPECT_EQ(runner.backend(), "cpu");
  EXPECT_TRUE(reported.has("its outputs differ from those of 'cpu' by ")) << reported.text();
  EXPECT_GT(runner.candidates()[0].difference, 0.02);
  EXPECT_THROW(LatencyRunner(candidates, {.strict = true}), Error);
  LatencyRunner trusting(candidates, {.tolerance = -1});
  EXPECT_EQ(trusting.backend(), "engine");
  LatencyRunner same({candidates[1], candidates[1]});
  EXPECT_EQ(same.backend(), "cpu");
  EXPECT_EQ(same.candidates()[0].difference, 0);
}

}  // namespace
}  // namespace tenfold
