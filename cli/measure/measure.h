// The measuring loop: contexts that run as often and as long as asked, each on its own thread.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tenfold/engine.h"

namespace tenfold::cli {

struct Sample {
  double start_ms = 0, end_ms = 0;  // since the start of measuring
  RunTimes parts;                   // on a CPU all is computing
  int stream = 0;                   // whose run it is
};

struct Trace {
  std::vector<Sample> samples;  // in order of their start
  double wall_s = 0, warmup_ms = 0;
  double precompute_ms = 0;          // mean of what comes before the newest row, which is in no sample
  double first_ms = 0;          // of the first run of all, which finds caches cold
  std::int64_t warmup_runs = 0;
};

struct MeasureOptions {
  int iterations = 10;
  double warmup_ms = 200, duration_s = 3;
  double idle_ms = 0;  // between two runs
  bool parts = false;  // take the times of copies and computing apart
};

struct ContextOptions {
  int profile = -1;
  Wait wait = Wait::spin_shortly;
  bool graphs = true, ranges = false;  // ranges: runs and steps in a profiler's timeline
  bool pinned = false;                 // inputs are copied to pinned memory of the context's own, and bound there
};
// A context with its inputs bound to `inputs` (kept alive by the caller; undefined ones have their defaults) and its outputs to its own
// memory, which is pinned on a GPU. Throws Error.
std::unique_ptr<ExecutionContext> make_context(const Engine& engine, const std::vector<Tensor>& inputs, const ContextOptions& options);
// After a first run: inputs and outputs stay in the GPU's memory from now on.
void leave_on_device(const Engine& engine, ExecutionContext& context);
// Throws Error if a run fails.
Trace measure(std::span<const std::unique_ptr<ExecutionContext>> contexts, const MeasureOptions& options);
// Milliseconds of each layer in each run, and since the run's start, in plan order.
struct LayerTimes {
  std::string name;
  std::vector<double> ms, start_ms;
  std::vector<std::string> nodes = {};   // of the model, that it computes (model_names.h)
  bool reference = false;                // on a reference kernel, which runs on one thread
};
std::vector<LayerTimes> profile_layers(ExecutionContext& context, const MeasureOptions& options);
// Copies of the outputs of the last run.
std::vector<std::pair<std::string, Tensor>> outputs_of(const Engine& engine, ExecutionContext& context);

}  // namespace tenfold::cli
