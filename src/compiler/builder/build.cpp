// The story of a build, from top to bottom. Each line is a stage, and its header tells the rest.
#include "builder/builder.h"

#include <utility>

#include "backends/cuda/device/compiler.h"
#include "backends/device_traits.h"
#include "base/check.h"
#include "base/files/file.h"
#include "base/threads/cpu_count.h"
#include "base/threads/spread.h"
#include "base/types/utf8.h"
#include "builder/budget/search.h"
#include "builder/model/formats.h"
#include "builder/model/model.h"
#include "builder/model/profiles.h"
#include "builder/diagnostics.h"
#include "builder/open_built.h"
#include "builder/open_device.h"
#include "builder/options_text.h"
#include "builder/plan_maker.h"
#include "builder/precision/calibrate.h"
#include "builder/precision/choose_precision.h"
#include "builder/reference_shares.h"
#include "builder/stages.h"
#include "builder/stopwatch.h"
#include "builder/time_limit.h"
#include "plan/verify.h"
#include "runtime/engine/opened.h"
#include "runtime/plugins/plugins.h"
#include "runtime/shared/runtime.h"
#include "tenfold/internal/as_error.h"

namespace tenfold::builder {

namespace {
BuildConfig prepared(const BuildConfig& given, const Diagnostics& book);
Engine opened(plan::Plan plan, const BuildConfig& config, const std::shared_ptr<backends::Backend>& backend, BuildReport& report);
bool is_of_model(ErrorKind kind) { return kind == ErrorKind::invalid_model || kind == ErrorKind::unsupported; }

Engine build_now(const Model& model, const BuildConfig& given, BuildReport& report) {
  const Diagnostics book;
  const TimeLimit limit(given);
  report.calibration.reset(), report.budget.reset(), report.tuned_ms = -1;   // an earlier build's, if one report is given to several
  BuildConfig config = prepared(given, book);
  OpeningDevice opening = open_aside(config);   // while the model is read
  const MaySpread may_spread;
  Stopwatch watch;
  const auto read = [&] {
    const InStage stage("reading the model");
    std::shared_ptr<const ir::Graph> graph = model.read(config);
    check_defaults(*graph, config);
    return graph;
  };
  const std::shared_ptr<const ir::Graph> graph = read();
  const std::string hash = model.hash ? model.hash() : "";
  report.import_s += watch.seconds();
  const std::shared_ptr<backends::Backend> backend = opening.get();
  report.device_s += watch.seconds();
  if (config.auto_precision) choose_precision(config, *graph, backend->info(), report);
  const auto make = [&](const BuildConfig& requested, BuildReport& reported, Findings& findings) {
    try {
      plan::Plan plan =
          build_plan(*graph, requested, model.name, backend, reported, model.open_graph ? model.open_graph(requested) : nullptr, &findings);
      plan.built.model_hash = hash;
      return opened(std::move(plan), requested, backend, reported);
    } catch (Error& e) {
      if (is_of_model(e.kind()) && !model.name.empty()) e.within(model.name);
      throw;
    }
  };
  Findings findings;
  if (model.known) model.known(findings);
  Engine engine = config.budget ? engine_within_budget(*graph, config, backend->info(), make, report) : make(config, report, findings);
  if (config.calibration && !config.budget) {
    const InStage stage("comparing the plan with the model in floats");
    compare_with_floats(*graph, engine, config, *report.calibration);
  }
  report_rounding(*graph, engine, config, report);
  runtime::state_of(engine)->plan.built.options += precision_in_words(report);
  report_forced(config, report);
  hand_over(book, report, engine);
  measure_reference_steps(engine, config);
  return engine;
}

// What the model has against the extents of a profile, with those that nobody gave.
ir::Graph rewritten_for(const OptimizationProfile& profile, const ir::Graph& source, const std::vector<plan::Range>& ranges,
                        const Stages& stages) {
  try {
    return stages.rewrite(source, ranges);
  } catch (const Error& e) {
    const std::string fixed = is_of_model(e.kind()) ? fixed_by_default(source, profile) : "";
    if (fixed.empty()) throw;
    throw Error(e.kind(), cat(e.what(), "; ", fixed));
  }
}

}  // namespace

Engine build(const Model& model, const BuildConfig& given, BuildReport& report) {
  return as_error([&] { return build_now(model, given, report); });
}

plan::Plan build_plan(const ir::Graph& graph, const BuildConfig& config, const std::string& model_name,
                      std::shared_ptr<backends::Backend> backend, BuildReport& report, const std::function<ir::Graph()>& open_graph,
                      Findings* findings) {
  // Without NVRTC every step would be left to the host, which nobody asks a GPU for.
  if (backend->code()) {
    const std::string& why = backends::cuda::compiler_why_not();
    require(why.empty(), ErrorKind::unsupported, "no build for ", backend->info().name, ": its kernels cannot be compiled: ", why);
  }
  Findings own;
  Stages stages{config, backend->info(), report, open_graph, findings ? *findings : own};
  stages.check(graph);
  const MaySpread may_spread;
  // The model's own name, not that of its file: a copy of the file gives the same plan.
  PlanMaker maker(config, model_name.empty() ? graph.name : model_name, backend, report);
  const ir::Graph source = maker.source_of(graph);
  stages.check_layers(source);
  stages.find_ranges_elsewhere(source);
  for (const OptimizationProfile& profile : profiles_of(config)) {
    const std::vector<plan::Range> ranges = symbol_ranges(source, profile, config.log);
    ir::Graph rewritten = rewritten_for(profile, source, ranges, stages);
    const passes::PrecisionFacts facts = stages.look(source, rewritten, profile, ranges);
    std::vector<ir::Graph> forms = stages.set_precision(std::move(rewritten), facts);
    maker.share_constants(forms);
    maker.choose(std::move(forms), ranges);
  }
  maker.keep_model_of(graph, stages.findings);
  return maker.finish();
}

namespace {

Engine opened(plan::Plan plan, const BuildConfig& config, const std::shared_ptr<backends::Backend>& backend, BuildReport& report) {
  Stopwatch watch;
  const InStage stage("opening the engine");
  plan::verify_built(plan, runtime::tactics_with(*backend, config.plugins.get()), runtime::registry_with(config.plugins.get()));
  Engine engine = open_built(std::move(plan), config, backend);
  report.open_s += watch.seconds();
  return engine;
}

BuildConfig prepared(const BuildConfig& given, const Diagnostics& book) {
  BuildConfig config = book.listening(runtime::with_runtime(given));
  require(config.optimization_level >= 0 && config.optimization_level <= 5, ErrorKind::invalid_argument, "optimization_level is ",
          config.optimization_level, ", expected 0 to 5");
  check_threads(config.threads, "a build");
  for (const auto& [key, text] : config.labels)
    require(is_utf8(key) && is_utf8(text), ErrorKind::invalid_argument, "label '", readable(key), "': it or its text '",
            readable(text.substr(0, 80)), "' is no UTF-8");
  if (config.hardware_compatible && config.cpu_features == 0) config.cpu_features = backends::common_features(config.device);
  return config;
}

}  // namespace

Engine build_graph(const ir::Graph& graph, const BuildConfig& config, const std::string& model_name, BuildReport* report) {
  BuildReport unused;
  return build(model_of(graph, model_name), config, report ? *report : unused);
}

}  // namespace tenfold::builder

namespace tenfold {

Engine build_file(const std::string& path, const BuildConfig& config, BuildReport* report) {
  BuildReport unused;
  const auto import = [&](const onnx_import::ImportOptions& options) {
    return onnx_import::import_file(path, options, runtime::registry_with(config.plugins.get()));
  };
  const auto hash = [&] { return builder::hash_of(MappedFile::read(path)->bytes()); };
  return builder::build(builder::model_of(import, hash, ""), config, report ? *report : unused);
}

Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, BuildReport* report) {
  BuildReport unused;
  const auto import = [&](const onnx_import::ImportOptions& options) {
    return onnx_import::import_bytes(onnx, options, {}, runtime::registry_with(config.plugins.get()));
  };
  return builder::build(builder::model_of(import, [&] { return builder::hash_of(onnx); }, ""), config, report ? *report : unused);
}

}  // namespace tenfold
