// PlanMaker: from graphs that the passes have finished, one per profile, to a plan. Building and re-tuning share it.
#pragma once

#include <optional>
#include <set>

#include "builder/budget/findings.h"
#include "builder/builder.h"
#include "builder/program/assemble.h"
#include "builder/program/model_names.h"
#include "builder/rebuild/portable.h"
#include "builder/refit/refit_recorder.h"
#include "builder/shared_constants.h"
#include "tune/choice/share_weights.h"
#include "tune/timing/timing_cache.h"
#include "tune/tuner.h"

namespace tenfold::builder {

class PlanMaker {
 public:
  // References are kept until finish().
  PlanMaker(const BuildConfig& config, const std::string& model_name, std::shared_ptr<backends::Backend> backend, BuildReport& report);
  // The model to rewrite: a copy, with the graphs of plug-ins expanded, whose weights are followed if the plan is to be refittable.
  ir::Graph source_of(const ir::Graph& graph);
  void keep_model_of(const ir::Graph& graph, const Findings& findings);   // in a compatible plan, to build it again
  void take_over(const plan::Plan& old, bool rounded);
  // What one profile's graph has in common with those before it is held once.
  void share_constants(std::vector<ir::Graph>& forms);
  // The next profile, as several forms of one graph, all computing the same: that is taken whose steps take least time, the first if they
  // tie.
  void choose(std::vector<ir::Graph> forms, const std::vector<plan::Range>& ranges);
  void add(ir::Graph graph, const std::vector<plan::Range>& ranges);    // the same with one form
  // Chooses again what all profiles together need fewer packed weights with, and makes programs of them.
  plan::Plan finish();

 private:
  // A graph as the tuner cut it, and its kernels and layouts.
  struct Tuned {
    ir::Graph graph;
    tune::Chosen chosen;
    std::size_t form = 0;
    std::vector<std::int64_t> of_forms = {};   // what each form takes in nanoseconds, 0 for those that were not timed
  };
  struct Profile {
    std::vector<ir::Graph> forms;
    std::vector<plan::Range> ranges;
    std::size_t first_step = 0, end_of_steps = 0;   // in the report
    std::vector<std::int64_t> of_forms = {};        // as in Tuned
  };
  // How all profiles are tuned: each in its fastest form, or all in one; with merged products as they are, or as each is fastest.
  struct Way {
    std::optional<std::size_t> form = {};
    bool keep_merged = false;
  };
  struct Shared {
    std::vector<Tuned> tuned;
    tune::WeightBytes bytes;
    double cost = 0;   // parts of their times that the profiles take longer, summed
  };
  // The names and types that callers see: of the model if there are several profiles, else of the first graph.
  void name_bindings(const ir::Graph& graph);
  tune::TuneOptions options_for(const ir::Graph& form, const std::vector<plan::Range>& ranges, BuildReport& report);
  tune::Chosen time(ir::Graph& form, const std::vector<plan::Range>& ranges, BuildReport& report, bool keep_merged = false);
  Tuned fastest(const Profile& profile, BuildReport& report, const Way& way);
  bool limits_weights() const;
  std::int64_t limit_of(const tune::WeightBytes& bytes) const;
  Shared share(std::vector<Tuned> tuned, const std::vector<std::int64_t>& least, BuildReport& report);
  Shared share_weights(std::vector<Tuned> tuned, BuildReport& report);   // in the way that costs least
  void report_weights(const Shared& shared, const std::vector<std::int64_t>& least);
  void mark(std::size_t profile, const Shared& shared);
  void try_rivals();   // in the model, where there is one profile on a CPU
  void assemble();
  void assemble(Tuned tuned, const std::vector<plan::Range>& ranges);   // a program of the plan
  void save_times();
  void note_clocks();   // in the plan, as they were when what it is chosen by was timed
  void keep_default(plan::Binding& binding, const Tensor& value);

  const BuildConfig& config_;
  const std::shared_ptr<backends::Backend> shared_backend_;
  backends::Backend& backend_;
  const backends::TacticSet tactics_;   // the backend's and the plug-ins'
  BuildReport& report_;
  tune::TimingCache cache_;
  std::set<tune::TimingKey> used_timings_;   // of cache_
  std::vector<Profile> profiles_;
  std::vector<Tuned> tuned_;            // of each profile
  std::string shared_in_words_;         // what became of the profiles' weights
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
