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
// Shapes of flags that name no input get the name of the only one that options.onnx has. Throws UsageError.
void name_shapes(ExecOptions& options);
// The model options.onnx as exec's flags build it. `files`: of --loadInputs, which give shapes and show values that fp16 does not hold.
Engine build_model(const ExecOptions& options, const InputFiles& files, BuildReport* report = nullptr);
BuildConfig build_config(const ExecOptions& options);   // what flags ask of a build without samples
// A plan is loaded, anything else is taken for a model and built.
Engine open_model_or_plan(const std::string& path, ExecOptions options, const InputFiles& files);
// The engine for options.build.device, saved if that was asked. Throws UsageError if there is no such device, Error otherwise.
Made make_and_save(const ExecOptions& options, const InputFiles& files);
// Of several devices each has a plan of its own: "m.plan" becomes "m.cuda0.plan".
std::string plan_name_for(const std::string& plan, std::string device);

}  // namespace tenfold::cli
