// Loading or building, sizes of symbols, times, and the roof.
#include "report/gather.h"

#include <algorithm>

#include "data/inputs.h"
#include "engines/engines.h"
#include "flags/flags.h"
#include "measure/report.h"
#include "model_or_plan.h"

namespace tenfold::cli {
namespace {

void set_profile(PlanFacts& facts, int profile) {
  if (profile < 0 || static_cast<std::size_t>(profile) >= facts.plan.programs.size())
    throw UsageError("--useProfile=" + std::to_string(profile) + ": '" + facts.file + "' has " +
                     std::to_string(facts.plan.programs.size()) + " profile(s), numbered from 0");
  facts.profile = profile;
  for (const PlanRange& r : facts.plan.programs[static_cast<std::size_t>(profile)].ranges)
    facts.sizes[r.symbol] = r.opt, facts.max_sizes[r.symbol] = r.max;
}

// Nothing of the plan's file can be run here: what it says is shown.
void take_file(PlanFacts& facts, const std::string& path, const std::string& why) {
  PlanFileInspection file = inspect_plan(path);
  facts.plan = std::move(file.plan), facts.layers_json = std::move(file.json);
  facts.absent.push_back({"times", "this plan cannot be loaded here: " + why, "run `tenfold report` on the machine it was built for"});
}

std::vector<Shape> shapes_of_run(PlanFacts& facts, const Engine& engine, const GatherOptions& o, InputFiles& files) {
  files.fit(engine.bindings(), o.exec.console);
  std::vector<Shape> shapes = run_shapes(engine, facts.profile, o.exec.shapes, files);
  for (std::size_t b = 0; b < shapes.size(); ++b) {
    const BindingInfo& info = engine.bindings()[b];
    for (std::size_t d = 0; info.is_input && d < std::min(shapes[b].size(), info.names.size()); ++d)
      if (info.shape[d] < 0 && !info.names[d].empty()) facts.sizes[info.names[d]] = shapes[b][d];
  }
  return shapes;
}

RunTimesOfSteps run(const PlanFacts& facts, const Engine& engine, const std::vector<Shape>& shapes, const GatherOptions& o,
                    const InputFiles& files) {
  const std::vector<Tensor> inputs = make_inputs(engine, shapes, files, o.exec.shapes);
  const std::unique_ptr<ExecutionContext> context = make_context(engine, inputs, {.profile = facts.profile});
  const Trace trace = measure({&context, 1}, o.run);
  RunTimesOfSteps times{profile_layers(*context, o.run), statistics(latencies(trace), {}).median, trace.samples.size(), 0};
  for (const LayerTimes& l : times.layers) times.timed_runs = std::max(times.timed_runs, l.ms.size());
  return times;
}

void add_roof(PlanFacts& facts) {
  if (facts.plan.device_kind != "cpu")
    facts.roof = data_sheet_roof(facts.plan.device);
  else if (facts.times && facts.info)
    facts.roof = measure_cpu_roof(facts.info->threads);
  if (facts.roof) return;
  if (facts.plan.device_kind != "cpu")
    facts.absent.push_back(
        {"roofline", "the peaks of '" + facts.plan.device + "' are in no table here", "compare FLOPs and bytes with its data sheet"});
  else
    facts.absent.push_back(
        {"roofline", "the peaks of a CPU are measured beside the times of steps", "leave --skipInference out, on the plan's machine"});
}

void add_times(PlanFacts& facts, const Engine& engine, const GatherOptions& o) {
  InputFiles files(o.exec.load_inputs);  // a wrong file is a mistake of the caller
  try {
    const std::vector<Shape> shapes = shapes_of_run(facts, engine, o, files);
    if (o.skip_inference) return facts.absent.push_back({"times", "--skipInference was given", "leave it out"}), void();
    facts.times = run(facts, engine, shapes, o, files);
  } catch (const Error& e) {
    facts.absent.push_back({"times", e.what(), "give inputs that the model takes: --shapes, --loadInputs"});
  }
}

void note_absent_build(PlanFacts& facts, const GatherOptions& o) {
  if (!facts.build)
    facts.absent.push_back({"tried and lost", "a plan keeps the kernels that were chosen, and not what was tried beside them",
                            "tenfold report MODEL.onnx, with the flags of the build"});
  else if (o.exec.build.optimization_level == 0)
    facts.absent.push_back({"times of what was tried", "at --builderOptimizationLevel=0 nothing is timed", "leave the flag out"});
}

}  // namespace

PlanFacts gather(const std::string& path, const GatherOptions& o) {
  PlanFacts facts;
  facts.file = path, facts.from_model = !is_plan(path);
  std::optional<Engine> engine;
  if (facts.from_model) {
    facts.build.emplace();
    ExecOptions exec = o.exec;
    exec.onnx = path;
    engine = build_model(exec, InputFiles(exec.load_inputs), &*facts.build);
  } else {
    try {
      engine = Engine::load(
          path, {.cpu_features = o.exec.build.cpu_features, .threads = o.exec.build.threads, .plugins = o.exec.build.plugins,
                 .log = o.exec.console.callback()});
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::io || e.kind() == ErrorKind::out_of_memory) throw;
      take_file(facts, path, e.what());
    }
  }
  if (engine)
    facts.plan = engine->inspection(), facts.layers_json = engine->inspect_json(), facts.info = engine->info(),
    facts.bindings = engine->bindings();
  set_profile(facts, o.profile);
  if (engine) add_times(facts, *engine, o);
  add_roof(facts);
  note_absent_build(facts, o);
  return facts;
}

}  // namespace tenfold::cli
