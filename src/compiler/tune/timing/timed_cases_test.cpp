// Every case of every tactic of the CPU can be timed with what the timer puts into operands: a kernel that refuses that is never chosen.
#include <gtest/gtest.h>

#include "ops/cases.h"
#include "tune/choice/node_problem.h"
#include "tune/timing/timer.h"

namespace tenfold::tune {
namespace {

// Of one case of a tactic; true: it takes the case's problem on this machine.
bool expect_timed(Timer& timer, const backends::Backend& backend, const backends::Tactic& tactic, std::string_view text) {
  const ir::Registry& registry = ir::Registry::builtin();
  const std::size_t space = text.find(' ');
  if (text.starts_with("(") || space == std::string_view::npos) return false;   // a graph: what fusion makes has operands of floats
  const ir::OpDef& op = registry.get(text.substr(0, space));
  const ir::Graph graph = ops::case_graph(registry, op, ops::parse_case(op, text.substr(space + 1)));
  const ir::Node* node = nullptr;
  for (const auto& each : graph.nodes())
    if (each->op() == op.name) node = each.get();
  if (!node) return false;
  const ir::SymbolBounds none;
  const backends::Problem problem = node_problem(*node, nullptr, none, backend.info(), std::int64_t{1} << 30);
  if (!tactic.supports(problem)) return false;
  EXPECT_LT(timer.time(tactic, problem, tactic.configs(problem).at(0), 0), kCannotRun) << tactic.name << ": " << text;
  return true;
}

TEST(TimedCases, NoTacticRefusesWhatTheTimerGivesIt) {
  const std::shared_ptr<backends::Backend> backend = backends::open_backend("cpu");
  BuildConfig config;
  config.threads = 1;
  config.timing_repetitions = 1;
  const auto timer = clock_timer(*backend, config, false);
  int timed = 0;
  for (const backends::Tactic& tactic : backend->tactics())
    if (tactic.source == backends::Source::native)
      for (const std::string_view text : tactic.cases) timed += expect_timed(*timer, *backend, tactic, text);
  EXPECT_GT(timed, 50);
}

}  // namespace
}  // namespace tenfold::tune
