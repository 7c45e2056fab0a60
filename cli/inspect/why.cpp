// JSON of a build's report.
#include "inspect/why.h"

#include <nlohmann/json.hpp>

namespace tenfold::cli {

using Json = nlohmann::ordered_json;

const char* name_of(CheckedOn inputs) {
  static constexpr const char* kNames[] = {"nothing", "random inputs", "typical inputs"};
  return kNames[static_cast<int>(inputs)];
}

Json overflow_json(const BuildReport& report) {
  Json kept = Json::array();
  for (const WideReport& w : report.kept_in_f32) kept.push_back({{"node", w.node}, {"op", w.op}, {"largest", w.largest}});
  return {{"checked_on", name_of(report.overflow_checked_on)}, {"kept_in_f32", std::move(kept)}};
}

Json why_json(const BuildReport& report) {
  Json steps = Json::array();
  for (const StepReport& step : report.steps) {
    Json tried = Json::array();
    for (const TacticReport& t : step.tried)
      tried.push_back({{"tactic", t.tactic},
                       {"config", t.config},
                       {"nanoseconds", t.nanoseconds < 0 ? Json() : Json(t.nanoseconds)},
                       {"verdict", t.verdict},
                       {"chosen", t.chosen}});
    steps.push_back({{"node", step.node}, {"problem", step.problem}, {"tried", std::move(tried)}});
  }
  return steps;
}

}  // namespace tenfold::cli
