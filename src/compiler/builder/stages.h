// The stages of a build between a model's graph and the choice of kernels. build.cpp calls them in this order, for each profile.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "backends/backend.h"
#include "builder/budget/findings.h"
#include "ir/op_def.h"
#include "passes/pipeline.h"
#include "plan/plan.h"
#include "tenfold/build.h"

namespace tenfold::builder {

// Whether the build times anything.
inline bool times_kernels(const BuildConfig& config) { return config.optimization_level > 0 && !config.random_choices; }

// Bytes of constants, in a graph that f32 is looked at beside bf16 for BuildConfig::auto_precision: more are bound by memory in any case,
// and would take a build minutes.
inline constexpr std::int64_t kMaxCompared = 1 << 30;
std::int64_t constant_bytes(const ir::Graph& graph);

// What all stages of one build read, and the report that they add to.
struct Stages {
  const BuildConfig& config;
  const backends::DeviceInfo& device;
  BuildReport& report;
  std::function<ir::Graph()> open_graph = {};   // the model anew, with the extents open that profiles fix; may be empty
  Findings& findings;   // of the first profile that is looked at, good for all

  // Throws on names of passes that do not exist, and on graphs that no plan can hold.
  void check(const ir::Graph& graph) const;
  // Throws on types that are given to layers which the source does not have.
  void check_layers(const ir::Graph& source) const;
  // The source at these ranges, in one form of everything; what frameworks write apart is recognized.
  ir::Graph rewrite(const ir::Graph& source, const std::vector<plan::Range>& ranges) const;
  // Runs a calibration's samples (calibrate.h), if nobody did so far; `ranges` are those of `rewritten`.
  void find_ranges(const ir::Graph& source, const ir::Graph& rewritten, const std::vector<plan::Range>& ranges);
  // The same for samples of another profile than the first, before anything else.
  void find_ranges_elsewhere(const ir::Graph& source);
  // What the rewritten graph's precision depends on. It is run where values of f16 may overflow (overflow.h), and for a calibration.
  passes::PrecisionFacts look(const ir::Graph& source, const ir::Graph& rewritten, const OptimizationProfile& profile,
                     const std::vector<plan::Range>& ranges);
  // Precision settled and nodes fused: the graph, and behind it other forms of it that the tuner is to compare it with.
  std::vector<ir::Graph> set_precision(ir::Graph rewritten, const passes::PrecisionFacts& facts) const;
};

}  // namespace tenfold::builder
