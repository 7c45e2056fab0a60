// The story of a build, from top to bottom: import, rewrite, precision, fusion, choice, plan.
#include <chrono>
#include <map>
#include <utility>

#include "backends/backend.h"
#include "base/cpu_count.h"
#include "base/log.h"
#include "builder/assemble.h"
#include "builder/builder.h"
#include "builder/profiles.h"
#include "ir/text.h"
#include "onnx_import/import.h"
#include "passes/pass.h"
#include "quant/quant.h"
#include "runtime/state.h"
#include "tune/tuner.h"

namespace tenfold::builder {

class Stopwatch {
 public:
  double seconds() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

namespace {

ir::SymbolValues opt_point(const ir::Graph& graph, const std::vector<plan::Range>& ranges) {
  ir::SymbolValues opt;
  for (const auto& [name, range] : graph.box()) opt[name] = range.upper;   // symbols that steps define: the largest they can be
  for (const plan::Range& r : ranges) opt[r.symbol] = r.opt;
  return opt;
}

passes::RunOptions pass_options(const BuildConfig& config) {
  passes::RunOptions options{.disabled = config.disabled_passes};
  if (config.dump) options.changed = [&config](std::string_view pass, const ir::Graph& graph) { config.dump(pass, ir::print(graph)); };
  return options;
}

void name_bindings(plan::Plan& plan, const ir::Graph& graph) {
  for (const auto* list : {&graph.inputs, &graph.outputs})
    for (const ir::Value* v : *list) plan.bindings.push_back({v->name, v->type, list == &graph.inputs, backends::kPlain});
}

// All that is done for one profile, on a graph of its own.
plan::Program build_program(ir::Graph graph, const std::vector<plan::Range>& ranges, backends::Backend& backend, const BuildConfig& config,
                            tune::TimingCache& cache, ConstantPool& constants, plan::Plan& plan, BuildReport& report) {
  Stopwatch watch;
  specialise(graph, ranges);
  passes::run(graph, passes::canonical(), pass_options(config));
  quant::apply(graph, config, backend.info());
  passes::run(graph, passes::fuse(), pass_options(config));
  report.passes_s += watch.seconds();
  std::vector<plan::Range> open;   // ranges that are still ranges
  for (const plan::Range& r : ranges)
    if (r.min != r.max) open.push_back(r);
  tune::TuneOptions options{&config, graph.box(), opt_point(graph, ranges), &cache, &report};
  const tune::Choice choice = tune::choose(graph, backend, options);
  report.tune_s += watch.seconds();
  plan::Program program = assemble(graph, choice, constants, {open, &backend}, plan.needs);
  if (plan.bindings.empty()) name_bindings(plan, graph);
  report.assemble_s += watch.seconds();
  return program;
}

}  // namespace

plan::Plan build_plan(const ir::Graph& graph, const BuildConfig& config, const std::string& model_name, std::shared_ptr<backends::Backend> backend,
                      BuildReport& report) {
  plan::Plan plan;
  plan.device = backend->info();
  plan.needs = plan.device.features;   // tactics were chosen among all of them
  plan.model_name = model_name;
  plan.builder = "tenfold " TENFOLD_VERSION;
  const bool keep_times = !config.timing_cache.empty();
  tune::TimingCache cache = keep_times ? tune::TimingCache::load(config.timing_cache, Log(config.log)) : tune::TimingCache();
  ConstantPool constants;
  std::vector<OptimizationProfile> profiles = config.profiles;
  if (profiles.empty()) profiles.emplace_back();
  if (profiles.size() > 1) name_bindings(plan, graph);
  for (const OptimizationProfile& profile : profiles) {
    const std::vector<plan::Range> ranges = symbol_ranges(graph, profile, config.log);
    plan.programs.push_back(build_program(graph.clone(), ranges, *backend, config, cache, constants, plan, report));
  }
  constants.move_into(plan);
  if (keep_times) cache.save(config.timing_cache, Log(config.log));
  return plan;
}

Engine open_built(plan::Plan plan, const BuildConfig& config, std::shared_ptr<backends::Backend> backend) {
  LoadOptions options{.cpu_features = config.cpu_features, .threads = config.threads, .log = config.log};
  return Engine(runtime::open_engine(std::move(plan), options, std::move(backend)));
}

Engine build_graph(const ir::Graph& graph, const BuildConfig& config, const std::string& model_name, BuildReport* report) {
  BuildReport unused;
  auto backend = backends::open_backend(config.device, config.cpu_features);
  plan::Plan plan = build_plan(graph, config, model_name, backend, report ? *report : unused);
  return open_built(std::move(plan), config, std::move(backend));
}

// Extents that every profile fixes at the same value: the importer decides branches and ranks by them. -1: not fixed.
std::map<std::string, Shape, std::less<>> fixed_extents(const std::vector<OptimizationProfile>& profiles) {
  std::map<std::string, Shape, std::less<>> fixed;
  for (const OptimizationProfile& profile : profiles)
    for (const auto& [name, range] : profile) {
      if (range.min.size() != range.max.size()) continue;   // symbol_ranges() explains
      Shape& shape = fixed.try_emplace(name, range.min).first->second;
      if (shape.size() != range.max.size()) continue;
      for (std::size_t d = 0; d < shape.size(); ++d)
        if (range.min[d] != range.max[d] || shape[d] != range.max[d]) shape[d] = -1;
    }
  return fixed;
}

onnx_import::ImportOptions import_options(const BuildConfig& config) {
  onnx_import::ImportOptions options{.input_shapes = fixed_extents(config.profiles), .log = Log(config.log)};
  for (const std::string& dir : config.external_data_dirs) options.external_data_dirs.emplace_back(dir);
  return options;
}

}  // namespace tenfold::builder

namespace tenfold {

Engine build_file(const std::string& path, const BuildConfig& config, BuildReport* report) {
  builder::Stopwatch watch;
  const ir::Graph graph = onnx_import::import_file(path, builder::import_options(config));
  if (report) report->import_s = watch.seconds();
  return builder::build_graph(graph, config, std::filesystem::path(path).filename().string(), report);
}

Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, BuildReport* report) {
  return builder::build_graph(onnx_import::import_bytes(onnx, builder::import_options(config)), config, "", report);
}

}  // namespace tenfold
