// Building and loading engines as exec was asked to.
#pragma once

#include <string>

#include "data/inputs.h"
#include "engines/exec_options.h"

namespace tenfold::cli {

struct Made {
  Engine engine;
  double build_s = 0, load_ms = -1;  // -1: nothing was loaded
  std::int64_t free_before = -1;     // of a GPU's memory, before anything was made; -1: not asked for
  InputSet sample = {};              // the first of --data, for runs
};
// The engine for options.build.device, saved if that was asked. Throws UsageError if there is no such device, Error otherwise.
Made make_and_save(const ExecOptions& options, const InputFiles& files);
// Of several devices each has a plan of its own: "m.plan" becomes "m.cuda0.plan".
std::string plan_name_for(const std::string& plan, std::string device);

}  // namespace tenfold::cli
