// PlanMaker: from graphs that the passes have finished, one per profile, to a plan. Building and re-tuning share it.
#pragma once

#include <chrono>
#include <set>
#include <utility>

#include "builder/assemble.h"
#include "builder/builder.h"
#include "builder/model_names.h"
#include "builder/portable.h"
#include "builder/refit_book.h"
#include "tune/timing_cache.h"
#include "tune/tuner.h"

namespace tenfold::builder {

class Stopwatch {
 public:
  double seconds() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class PlanMaker {
 public:
  // References are kept until finish().
  PlanMaker(const BuildConfig& config, const std::string& model_name, backends::Backend& backend, BuildReport& report);
  // The names and types that callers see; without it those of the first graph added.
  void name_bindings(const ir::Graph& graph);
  void take_over(const plan::Plan& old, bool rounded);
  // Several forms of one graph, all computing the same: that is taken whose steps take least time, the first if they tie.
  void add(std::vector<ir::Graph> forms, const std::vector<plan::Range>& ranges);
  void add(ir::Graph graph, const std::vector<plan::Range>& ranges);
  // The model to rewrite: a copy, whose weights are followed if the plan is to be refittable. A compatible plan keeps it.
  ir::Graph tracked(const ir::Graph& graph);
  plan::Plan finish();

 private:
  struct Timed {
    std::vector<ir::Graph> forms;
    std::vector<plan::Range> ranges;
  };
  tune::Chosen choose(ir::Graph& form, const std::vector<plan::Range>& ranges, BuildReport& report);
  void save_times();
  void note_clocks();   // in the plan, as they were when what it is chosen by was timed
  void keep_default(plan::Binding& binding, const Tensor& value);

  const BuildConfig& config_;
  backends::Backend& backend_;
  const backends::TacticSet tactics_;   // the backend's and the plug-ins'
  BuildReport& report_;
  tune::TimingCache cache_;
  std::set<tune::TimingKey> asked_;   // of cache_
  std::vector<Timed> timed_;
  ConstantPool constants_;
  PortableGraphs portable_;
  RefitBook refit_;
  const plan::Refit* old_refit_ = nullptr;   // when re-tuning
  const ir::Registry* registry_ = nullptr;
  plan::Names names_;
  plan::Plan plan_;
};

// Opens a finished plan with the builder's own options.
Engine open_built(plan::Plan plan, const BuildConfig& config, std::shared_ptr<backends::Backend> backend);

}  // namespace tenfold::builder
