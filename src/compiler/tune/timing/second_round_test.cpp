// The tuner on a machine whose clock and disturbances are known, because a script says when other programs take the processor.
#include "tune/timing/second_round.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "tune/tuner.h"

namespace tenfold::tune {
namespace {

// What a candidate takes depends on nothing but itself; while calls [first, last) are made everything takes `factor` times as long.
class ScriptedTimer final : public Timer {
 public:
  int first = 0, last = 0, calls = 0, calls_again = 0;
  double factor = 1;
  int world = 0;   // another one has other times
  double time(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config& config, double) override {
    const bool busy = calls >= first && calls < last;
    ++calls;
    return truth(cat(world, problem.line(), tactic.name, config_text(config))) * (busy ? factor : 1);
  }
  double again(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config& config) override {
    ++calls_again;
    return time(tactic, problem, config, 0);
  }

 private:
  static double truth(const std::string& candidate) {
    std::uint64_t h = 1469598103934665603ull;
    for (char c : candidate) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    return 1e5 + static_cast<double>((h ^ h >> 29) % 100000);
  }
};

struct Tuned {
  std::string choice = {};
  BuildReport report = {};
  TimingCache cache = {};
};
Tuned tune(ScriptedTimer& timer, bool twice = true, const TimingCache& known = {}) {
  ir::Graph graph = ir::parse_graph(R"((x f32[96,64], a f32[64,80]!, b f32[80,112]!, c f32[112,48]!)
    p = MatMul(x, a)
    q = MatMul(p, b)
    y = MatMul(q, c))",
                                    ir::Registry::builtin(),
                                    {.random_constant = [](DType t, const Shape& shape, std::uint64_t) { return Tensor(t, shape); }});
  const auto backend = backends::open_backend("cpu");
  BuildConfig config;
  Tuned tuned{.cache = known};
  const TuneOptions options{.config = &config, .cache = &tuned.cache, .report = &tuned.report};
  const Chosen chosen = twice ? choose_twice(graph, *backend, *backend, options, timer, false)
                              : choose_once(graph, *backend, *backend, options, timer, false);
  for (const auto& node : graph.nodes()) {
    const NodeChoice& c = chosen.choice.at(node.get());
    tuned.choice += c.tactic->name + " " + config_text(c.config, c.formats) + "\n";
  }
  return tuned;
}

TEST(SecondRound, AQuietMachineIsTimedLittleMore) {
  ScriptedTimer timer;
  const Tuned tuned = tune(timer);
  EXPECT_EQ(tuned.report.disturbed, 0);
  EXPECT_GT(timer.calls_again, 0);
  EXPECT_LE(timer.calls_again, 3 * 5);   // of five problems: three products, the rates of work and of bytes
  EXPECT_EQ(tuned.report.timed_again, timer.calls_again);
  EXPECT_EQ(tuned.report.timed, timer.calls - timer.calls_again);
}

// In how many plans a disturbance of half of the calls would have changed, had nothing been timed again.
int changed_by_disturbance(int world) {
  ScriptedTimer quiet, counter;
  quiet.world = counter.world = world;
  const Tuned truth = tune(quiet);
  tune(counter, false);
  int changed = 0;
  const int half = counter.calls / 2;
  for (int first = 0; first + half <= counter.calls; first += 5) {
    ScriptedTimer once;
    once.first = first, once.last = first + half, once.factor = 1.7, once.world = world;
    ScriptedTimer twice = once;
    changed += tune(once, false).choice != truth.choice;
    const Tuned tuned = tune(twice);
    EXPECT_EQ(tuned.choice, truth.choice) << "world " << world << " from call " << first;
    EXPECT_GT(tuned.report.disturbed, 0);
    EXPECT_NEAR(tuned.report.disturbance, 1.7, 1e-9);
  }
  return changed;
}

// In a single world the best may be so far ahead that no disturbance matters.
TEST(SecondRound, ADisturbanceDoesNotChangeThePlan) {
  int changed = 0;
  for (int world = 0; world < 8; ++world) changed += changed_by_disturbance(world);
  EXPECT_GT(changed, 0) << "one round would do: this test proves nothing";
}

TEST(SecondRound, TheCacheHoldsWhatWasConfirmed) {
  ScriptedTimer busy, none;
  busy.last = 12, busy.factor = 1.7;
  const Tuned first = tune(busy), again = tune(none, true, first.cache);
  EXPECT_GT(first.report.disturbed, 0);
  EXPECT_EQ(none.calls, 0);
  EXPECT_EQ(again.choice, first.choice);
  EXPECT_EQ(again.cache, first.cache);
}

}  // namespace
}  // namespace tenfold::tune
