// Building and loading engines as exec was asked to.
#include "engines/engines.h"

#include <chrono>
#include <filesystem>
#include <sstream>

#include "data/inputs.h"
#include "engines/accuracy.h"
#include "engines/budget.h"
#include "engines/calibration.h"
#include "engines/io_formats.h"
#include "engines/precision.h"
#include "formats/files.h"
#include "model_or_plan.h"
#include "progress.h"
#include "tenfold/device.h"

namespace tenfold::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void check_device(const ExecOptions& o) {
  if (o.build.device == "cpu" || o.build.device == "null") return;
  std::string names;
  for (const DeviceDescription& d : devices()) {
    if (d.device == o.build.device) return;
    names += (names.empty() ? "" : ", ") + d.device;
  }
  const std::string why = why_no_gpu();
  const std::string words =
      "there is no device '" + o.build.device + "' here; Tenfold found " + names + (why.empty() ? "" : " (" + why + ")");
  if (is_gpu(o.build.device)) throw Error(ErrorKind::device, words);   // as the library says it of a GPU that is not there
  throw UsageError(words);
}

Engine refitted(const ExecOptions& o, const Engine& engine) {
  const Clock::time_point start = Clock::now();
  Engine other = engine.refit(read_weights(o.refit_from, o.build));
  o.console.info("Engine refitted from " + o.refit_from + " in " + std::to_string(seconds_since(start)) + " sec.");
  return other;
}

// For many answers in all a context of a CPU has one thread. What the plan is for is known once it is loaded: the few for GPUs with steps
// of the host's are then loaded again.
Engine loaded(const ExecOptions& o, const BuildConfig& config) {
  const bool many = o.throughput && config.threads == 0;
  LoadOptions load{.verify_weights = o.verify_weights,
                   .cpu_features = config.cpu_features,
                   .device = o.device_given ? config.device : "",
                   .threads = many ? 1 : config.threads,
                   .pin_threads = config.pin_threads,
                   .plugins = config.plugins,
                   .log = config.log,
                   .device_code = o.device_code};
  {
    Engine engine = load_compatible(o.load_engine, load);
    if (!many || !engine.info().on_gpu || !engine.info().waits_in_run) return engine;
  }   // a device has not room for two
  load.threads = 0;
  return load_compatible(o.load_engine, load);
}

// For the timed run. Where a cache gave the ranges, nobody has asked for samples yet, and they may not fit these shapes.
InputSet first_sample(const ExecOptions& o, const Calibration& calibration) {
  try {
    return calibration.sample(0).value_or(InputSet());
  } catch (const Error& e) {
    o.console.warn(std::string("no sample of --data is run: ") + e.what());
    return {};
  }
}

Made make_engine(const ExecOptions& o, const InputFiles& files) {
  const Clock::time_point start = Clock::now();
  BuildConfig config = o.build;
  config.log = o.console.callback();
  config.progress = progress_printer(o.progress);
  if (!o.onnx.empty() && is_plan(o.onnx)) throw Error(ErrorKind::invalid_model, "'" + o.onnx + "' is a plan: give it as --loadEngine=FILE");
  if (formats::extension(o.load_engine) == ".onnx")
    throw Error(ErrorKind::plan_refused, "'" + o.load_engine + "' is a model: give it as --onnx=FILE");
  if (!o.load_engine.empty()) {
    Engine engine = o.retune ? retune_file(o.load_engine, config) : loaded(o, config);
    if (!o.refit_from.empty()) engine = refitted(o, engine);
    const double took = seconds_since(start);
    o.console.info(std::string(o.retune ? "Engine re-tuned in " : "Engine deserialized in ") + std::to_string(took) + " sec.");
    return {std::move(engine), 0, took * 1e3};
  }
  config.profiles = profile_ranges(o, files.known_shapes());
  config.keep_portable_graph = !o.save_engine.empty();   // nobody can tune again what is not kept
  if (config.fp16)
    if (auto typical = files.known_tensors(); !typical.empty()) config.typical_inputs = {std::move(typical)};
  const CalibrationData data(o, config);
  if (config.profiles.empty()) config.profiles = data.profiles(o);
  if (!o.data.empty() || !o.calibration_cache.empty()) config.calibration = data.calibration(o);
  else if (o.int8_asked && !o.best && !config.auto_precision) config.calibration = Calibration{.sample = {}, .method = "dynamic"};
  std::optional<Accuracy> accuracy;
  if (!o.labels.empty()) accuracy.emplace(o, data);
  complete_budget(config, accuracy ? &*accuracy : nullptr);
  BuildReport report;
  Engine engine = build_file(o.onnx, config, &report);
  const double took = seconds_since(start);
  o.console.info("Engine built in " + std::to_string(took) + " sec.");
  tell_of_precision(o, report);
  if (report.budget) print_budget(o, *report.budget);
  if (accuracy) accuracy->tell(o, engine, config);
  std::ostringstream parts;
  parts << "of which: opening the device " << report.device_s << ", import " << report.import_s << ", passes " << report.passes_s
        << ", check of fp16 " << report.check_s << ", choice " << report.tune_s << ", assembling " << report.assemble_s
        << ", opening the plan " << report.open_s;
  if (o.console.verbose) o.console.info(parts.str());
  Made made{std::move(engine), took, -1};
  if (!o.data.empty() && !o.skip_inference) made.sample = first_sample(o, *config.calibration);
  return made;
}

}  // namespace

Made make_and_save(const ExecOptions& o, const InputFiles& files) {
  check_device(o);
  const std::int64_t free_before = o.monitor_memory ? free_memory(o.build.device) : -1;
  Made made = make_engine(o, files);
  made.free_before = free_before;
  if (o.onnx.empty()) check_io_formats(o, made.engine.bindings());
  if (!o.save_engine.empty()) {
    made.engine.save(o.save_engine);
    o.console.info("Plan saved to " + o.save_engine);
  }
  return made;
}

std::string plan_name_for(const std::string& plan, std::string device) {
  if (plan.empty()) return plan;
  std::erase(device, ':');
  const std::filesystem::path path = plan;
  return (path.parent_path() / (path.stem().string() + "." + device + path.extension().string())).string();
}

}  // namespace tenfold::cli
