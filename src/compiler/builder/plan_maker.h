// PlanMaker: from graphs that the passes have finished, one per profile, to a plan. Building and re-tuning share it.
#pragma once

#include <set>

#include "builder/budget/findings.h"
#include "builder/builder.h"
#include "builder/program/assemble.h"
#include "builder/program/model_names.h"
#include "builder/rebuild/portable.h"
#include "builder/refit/refit_recorder.h"
#include "builder/shared_constants.h"
#include "tune/timing/timing_cache.h"
#include "tune/tuner.h"

namespace tenfold::builder {

class PlanMaker {
 public:
  // References are kept until finish().
  PlanMaker(const BuildConfig& config, const std::string& model_name, backends::Backend& backend, BuildReport& report);
  // The model to rewrite: a copy, with the graphs of plug-ins expanded, whose weights are followed if the plan is to be refittable.
  ir::Graph source_of(const ir::Graph& graph);
  void keep_model_of(const ir::Graph& graph, const Findings& findings);   // in a compatible plan, to build it again
  void take_over(const plan::Plan& old, bool rounded);
  // A graph as the tuner cut it, and its kernels and layouts.
  struct Tuned {
    ir::Graph graph;
    tune::Chosen chosen;
  };
  // What one profile's graph has in common with those before it is held once.
  void share_constants(std::vector<ir::Graph>& forms);
  // Several forms of one graph, all computing the same: that is taken whose steps take least time, the first if they tie.
  Tuned choose(std::vector<ir::Graph> forms, const std::vector<plan::Range>& ranges);
  void assemble(Tuned tuned, const std::vector<plan::Range>& ranges);   // a program of the plan
  void add(ir::Graph graph, const std::vector<plan::Range>& ranges);    // both, of one form
  plan::Plan finish();

 private:
  struct Timed {
    std::vector<ir::Graph> forms;
    std::vector<plan::Range> ranges;
  };
  // The names and types that callers see: of the model if there are several profiles, else of the first graph.
  void name_bindings(const ir::Graph& graph);
  tune::Chosen time(ir::Graph& form, const std::vector<plan::Range>& ranges, BuildReport& report);
  void save_times();
  void note_clocks();   // in the plan, as they were when what it is chosen by was timed
  void keep_default(plan::Binding& binding, const Tensor& value);

  const BuildConfig& config_;
  backends::Backend& backend_;
  const backends::TacticSet tactics_;   // the backend's and the plug-ins'
  BuildReport& report_;
  tune::TimingCache cache_;
  std::set<tune::TimingKey> used_timings_;   // of cache_
  std::vector<Timed> timed_;
  ConstantPool constants_;
  PortableGraphs portable_;
  RefitRecorder refit_;
  SharedConstants shared_;
  const plan::Refit* old_refit_ = nullptr;   // when re-tuning
  const ir::Registry* registry_ = nullptr;
  plan::Names names_;
  plan::Plan plan_;
};

}  // namespace tenfold::builder
