// A plan as the page's JSON: all numbers that the page shows are here, and `--json` prints them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "measure/measure.h"
#include "report/extent.h"
#include "report/roof.h"
#include "tenfold/build.h"
#include "tenfold/inspect.h"

namespace tenfold::cli {

using Json = nlohmann::ordered_json;

struct RunTimesOfSteps {
  std::vector<LayerTimes> layers;
  double run_ms = 0;  // median of whole runs, without the step timer
  std::size_t runs = 0, timed_runs = 0;
};

// What is known of one plan. What is not known stays empty, and `absent` says why.
struct PlanFacts {
  std::string file;
  bool from_model = false;
  PlanInspection plan;
  std::string layers_json;         // Engine::inspect_json()
  std::optional<EngineInfo> info;  // of a loaded one
  std::vector<BindingInfo> bindings;
  std::optional<BuildReport> build;
  int profile = 0;
  Sizes sizes, max_sizes;  // of symbols: at these shapes, and at the profile's largest
  std::optional<RunTimesOfSteps> times;
  std::optional<Roof> roof;
  struct Absent {
    std::string what, why, how;
  };
  std::vector<Absent> absent;
};

Json plan_json(const PlanFacts& facts);

}  // namespace tenfold::cli
