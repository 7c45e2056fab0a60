// Plans of a search within an error budget: each is made, measured, and told; the fastest that is within stays.
#pragma once

#include <chrono>
#include <memory>

#include "builder/budget/judge.h"
#include "builder/budget/records.h"
#include "builder/budget/run_times.h"
#include "builder/budget/search.h"

namespace tenfold::builder {

// A finished plan, measured.
struct Made {
  Engine engine;
  BuildReport report;
  BudgetPlan plan;
  Recipe recipe;
  Hash128 hash;
  Computed computed;
  std::shared_ptr<RunTimes> times = {};   // null: its time is known from before
};

class Trials {
 public:
  Trials(const ir::Graph& source, const BuildConfig& config, const backends::DeviceInfo& device, const MakePlan& make);

  // Asked before each further step, so that an end for want of time is known as one.
  bool has_time();
  double seconds() const;                 // since the search began
  void report_progress(int done, int total) const;    // BuildConfig::progress; throws cancelled
  // The plan that the same search took before, if a build makes the same again; `told` is then what that search told.
  std::optional<Made> remembered();
  void begin();                           // runs the model in f32, which all plans are measured beside

  // Makes a plan and measures it. True if it is within the budget. Without a name it has that of its type. `anyway`: it is taken if
  // there is none so far. One that cannot be had under types that the user wants obeyed is none. `look` sees it.
  bool consider(std::string name, const Recipe& recipe, bool anyway = false, const std::function<void(const Made&)>& look = {});
  void choose_final();                    // the best plan becomes the one that the next build makes, if the last times lead elsewhere
  void report_unfused();                 // what fusing and tuning won, where it takes no time worth speaking of
  void remember() const;                  // the best plan, for remembered()

  const BuildConfig& config;
  const backends::DeviceInfo& device;
  const ir::Graph& source;
  BudgetRecords records;
  Findings findings;
  Layers layers;                          // known once a plan was made
  BudgetReport reported;
  std::optional<Made> best;

 private:
  BuildConfig config_of(const Recipe& recipe) const;
  Made measure(std::string name, const Recipe& recipe);
  Judged measured_error(const Made& made) const;
  double measured_milliseconds(Made& made);
  bool take(Made& made, bool anyway);
  void take_known_ranges();
  void find_layers();
  std::map<DType, double> work_of(const Computed& computed) const;

  const MakePlan& make_;
  const std::vector<plan::Range> ranges_;
  BuildConfig base_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<Judge> judge_;
  std::shared_ptr<RunTimes> first_;       // of the first plan that was timed, beside which all others are
  double first_milliseconds_ = 0;
  std::size_t taken_ = 0;                 // of told.plans
  bool settled_ = false;                  // a build makes the best plan again
};

// 16 bits, if any layer has them, else f32.
DType wide_type_of(const Computed& computed);

}  // namespace tenfold::builder
