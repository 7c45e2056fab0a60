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
  const std::string form = is_gpu(o.build.device) ? " here" : ": devices are cpu and cuda:N";
  const std::string words =
      "there is no device '" + o.build.device + "'" + form + "; Tenfold found " + names + (why.empty() ? "" : " (" + why + ")");
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

// What flags ask of a build: its configuration, samples, and labels.
struct ModelBuild {
  ModelBuild(const ExecOptions& o, const InputFiles& files) : config(config_of(o, files)), data(o, config) {
    if (config.profiles.empty()) config.profiles = data.profiles(o);
    if (!o.data.empty() || !o.calibration_cache.empty()) config.calibration = data.calibration(o);
    else if (o.int8_requested && !o.best && !config.auto_precision) config.calibration = Calibration{.sample = {}, .method = "dynamic"};
    if (!o.labels.empty()) accuracy.emplace(o, data);
    complete_budget(config, accuracy ? &*accuracy : nullptr);
  }
  ModelBuild(const ModelBuild&) = delete;

  static BuildConfig config_of(const ExecOptions& o, const InputFiles& files) {
    BuildConfig config = o.build;
    config.log = o.console.callback();
    config.progress = progress_printer(o.progress);
    config.profiles = profile_ranges(o, files.known_shapes());
    config.keep_portable_graph = !o.save_engine.empty();   // nobody can tune again what is not kept
    if (config.fp16)
      if (auto typical = files.known_tensors(); !typical.empty()) config.typical_inputs = {std::move(typical)};
    return config;
  }

  BuildConfig config;
  CalibrationData data;
  std::optional<Accuracy> accuracy;
};

Made loaded_or_retuned(const ExecOptions& o) {
  const Clock::time_point start = Clock::now();
  BuildConfig config = o.build;
  config.log = o.console.callback();
  config.progress = progress_printer(o.progress);
  Engine engine = o.retune ? retune_file(o.load_engine, config) : loaded(o, config);
  if (!o.refit_from.empty()) engine = refitted(o, engine);
  const double took = seconds_since(start);
  o.console.info(std::string(o.retune ? "Engine re-tuned in " : "Engine deserialized in ") + std::to_string(took) + " sec.");
  return {std::move(engine), 0, took * 1e3};
}

Made make_engine(const ExecOptions& o, const InputFiles& files) {
  if (!o.onnx.empty() && is_plan(o.onnx)) throw Error(ErrorKind::invalid_model, "'" + o.onnx + "' is a plan: give it as --loadEngine=FILE");
  if (formats::extension(o.load_engine) == ".onnx")
    throw Error(ErrorKind::plan_refused, "'" + o.load_engine + "' is a model: give it as --onnx=FILE");
  if (!o.load_engine.empty()) return loaded_or_retuned(o);
  const Clock::time_point start = Clock::now();
  const ModelBuild build(o, files);
  BuildReport report;
  Engine engine = build_file(o.onnx, build.config, &report);
  const double took = seconds_since(start);
  o.console.info("Engine built in " + std::to_string(took) + " sec.");
  report_precision(o, report);
  if (report.budget) print_budget(o, *report.budget);
  if (build.accuracy) build.accuracy->log_accuracy(o, engine, build.config);
  std::ostringstream parts;
  parts << "of which: opening the device " << report.device_s << ", import " << report.import_s << ", passes " << report.passes_s
        << ", check of fp16 " << report.check_s << ", choice " << report.tune_s << ", assembling " << report.assemble_s
        << ", opening the plan " << report.open_s;
  if (o.console.verbose) o.console.info(parts.str());
  Made made{std::move(engine), took, -1};
  if (!o.data.empty() && !o.skip_inference) made.sample = first_sample(o, *build.config.calibration);
  return made;
}

}  // namespace

void name_shapes(ExecOptions& o) {
  using Shapes = std::map<std::string, Shape>;
  std::vector<std::pair<const char*, Shapes*>> flags{{"shapes", &o.shapes}};
  for (auto& [number, ranges] : o.profiles)
    flags.insert(flags.end(), {{"minShapes", &ranges.min}, {"optShapes", &ranges.opt}, {"maxShapes", &ranges.max}});
  if (std::none_of(flags.begin(), flags.end(), [](const auto& flag) { return flag.second->contains(""); })) return;
  const std::vector<BindingInfo> bindings = model_bindings(o.onnx, o.build);
  for (const auto& [flag, shapes] : flags) *shapes = with_names(std::move(*shapes), flag, bindings);
}

Engine build_model(const ExecOptions& requested, const InputFiles& files, BuildReport* report) {
  check_device(requested);
  ExecOptions o = requested;
  BuildReport own;
  if (!report) report = &own;
  try {
    name_shapes(o);
    const ModelBuild build(o, files);
    Engine engine = build_file(o.onnx, build.config, report);
    report_precision(o, *report);
    return engine;
  } catch (const Error& e) {   // what is called a model may be called a plan as well
    constexpr std::string_view kNoModel = "is not an ONNX model";
    if (formats::extension(o.onnx) == ".onnx" || std::string_view(e.what()).find(kNoModel) == std::string_view::npos) throw;
    const bool tensorrt = formats::read_at_most(o.onnx, 4) == "ftrt";
    throw Error(e.kind(), "'" + o.onnx + "' is neither a plan nor an ONNX model" +
                              (tensorrt ? ": it is an engine of TensorRT, which cannot be loaded; give the ONNX file that it was made of"
                                        : ", or it is damaged: copy it again, or build it again from the ONNX file"));
  }
}

BuildConfig build_config(const ExecOptions& o) { return ModelBuild(o, InputFiles({})).config; }

Engine open_model_or_plan(const std::string& path, ExecOptions o, const InputFiles& files) {
  const bool plan = is_plan(path);
  (plan ? o.load_engine : o.onnx) = path;
  if (!plan) return build_model(o, files);
  return load_compatible(path, {.cpu_features = o.build.cpu_features,
                                .device = o.device_given ? o.build.device : "",
                                .threads = o.build.threads,
                                .plugins = o.build.plugins,
                                .log = o.console.callback()});
}

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
