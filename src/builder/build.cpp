// The story of a build, from top to bottom: import, rewrite, precision, fusion; then PlanMaker chooses and assembles.
#include <chrono>
#include <future>
#include <map>
#include <set>
#include <utility>

#include "backends/backend.h"
#include "base/file.h"
#include "base/log.h"
#include "base/spread.h"
#include "builder/builder.h"
#include "builder/formats.h"
#include "builder/limits.h"
#include "builder/note_book.h"
#include "builder/options_text.h"
#include "builder/overflow.h"
#include "builder/plan_maker.h"
#include "builder/profiles.h"
#include "ir/lineage.h"
#include "ir/text.h"
#include "onnx_import/import.h"
#include "passes/packing.h"
#include "passes/pass.h"
#include "plan/verify.h"
#include "quant/numerics.h"
#include "quant/qdq.h"
#include "quant/quant.h"
#include "runtime/plugins.h"
#include "runtime/runtime.h"

namespace tenfold::builder {

namespace {

void check_names(const std::vector<std::string>& disabled) {
  std::vector<passes::Pass> all = passes::all_passes();
  for (const passes::Pass& pass : quant::qdq_passes()) all.push_back(pass);
  for (const std::string& name : disabled) {
    std::set<std::string> known;
    for (const passes::Pass& pass : all) known.insert(pass.name);
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
    require(known.count(name), ErrorKind::invalid_argument, "there is no pass '", name, "' to switch off; there are ", list);
  }
}

passes::RunOptions pass_options(const BuildConfig& config) {
  passes::RunOptions options{.disabled = config.disabled_passes};
  if (config.dump) options.changed = [&config](std::string_view pass, const ir::Graph& graph) { config.dump(pass, ir::print(graph)); };
  return options;
}

void tell_of_padding(const ir::Graph& graph, const BuildConfig& config) {
  if (config.pack_tokens == PackTokens::no || !passes::packed_token_symbols(graph).empty()) return;
  const bool zeros = config.pack_tokens == PackTokens::with_zeros;
  if (std::count(config.disabled_passes.begin(), config.disabled_passes.end(), "fuse_attention") > 0)
    return Log(config.log)(Severity::warning,
                           "tokens are not packed: that needs fused attention, which --noFastExp or disabling fuse_attention leaves out");
  Log(config.log)(
      Severity::warning, "tokens are not packed: no attention was found whose mask comes from an input of [batch, sequence] and ",
      zeros ? "whose results are read token by token" : "whose results are read by means under that mask alone (--packTokens=zeros)");
}

// The rewriting that is done for one profile, on a graph of its own, up to where precision is settled.
void rewrite(ir::Graph& graph, const std::vector<plan::Range>& ranges, const backends::DeviceInfo& device, PackTokens pack,
             const passes::RunOptions& options) {
  specialise(graph, ranges);
  if (options.changed) options.changed("import", graph);
  passes::run(graph, passes::canonical(), options);
  if (pack != PackTokens::no) passes::run(graph, passes::pack_tokens(pack == PackTokens::with_zeros), options);
  if (device.kind == "cuda") passes::run(graph, passes::canonical_for_gpu(), options);
}

// Which values f16 cannot hold, where such a graph will be made of it.
std::set<std::string> too_wide(const ir::Graph& source, const ir::Graph& graph, const OptimizationProfile& profile,
                               const backends::DeviceInfo& device, const BuildConfig& config,
                               const std::function<ir::Graph()>& open_graph, BuildReport& report) {
  if (device.kind != "cuda" || !config.fp16 || !config.check_overflow) return {};
  const passes::RunOptions quiet{.disabled = config.disabled_passes};
  OverflowCheck check{.config = config, .rewrite = [&](ir::Graph& copy, const std::vector<plan::Range>& at) {
                        rewrite(copy, at, device, config.pack_tokens, quiet);
                      }, .open = {}, .report = &report};
  if (open_graph)
    check.open = [&] {
      ir::Graph open = open_graph();
      std::vector<plan::Range> ranges = symbol_ranges(open, profile, {});
      return std::pair(std::move(open), std::move(ranges));
    };
  return values_beyond_f16(source, graph, symbol_ranges(source, profile, {}), check);
}

// Precision, and what follows from it.
void settle(ir::Graph& graph, const std::set<std::string>& wide, const backends::DeviceInfo& device, const BuildConfig& config) {
  quant::apply(graph, config, device, wide);
  if (device.kind == "cuda") {
    const bool own_kernels = config.tactic_sources & static_cast<std::uint32_t>(TacticSource::native);
    passes::run(graph, passes::settled_for_gpu(own_kernels), pass_options(config));
  }
  passes::run(graph, passes::fuse(), pass_options(config));
  if (device.kind == "cuda") passes::run(graph, passes::fuse_for_gpu(), pass_options(config));
  if (device.kind == "cpu") passes::run(graph, passes::fuse_for_cpu(), pass_options(config));
}

// Whether f32 may be quicker than bf16: weights that stay in the caches are read so fast that converting values costs more than it saves.
bool compares_f32(const ir::Graph& graph, const backends::DeviceInfo& device, const BuildConfig& config) {
  if (device.kind != "cpu" || !config.bf16 || !(device.features & backends::kAmxBf16)) return false;
  if (config.optimization_level == 0 || config.random_choices) return false;   // nothing is timed
  constexpr std::int64_t kSmall = 4 << 20;
  std::int64_t weights = 0;
  for (const auto& v : graph.values())
    if (v->is_constant()) weights += v->constant->tensor.bytes();
  return weights <= kSmall;
}

// The settled graph, and what the tuner is to compare it with.
std::vector<ir::Graph> forms_of(ir::Graph graph, const std::set<std::string>& wide, const backends::DeviceInfo& device,
                                const BuildConfig& config) {
  std::vector<ir::Graph> forms;
  if (compares_f32(graph, device, config)) {
    BuildConfig in_f32 = config;
    in_f32.bf16 = false, in_f32.dump = nullptr;
    forms.push_back(graph.clone());
    settle(forms[0], wide, device, in_f32);
  }
  settle(graph, wide, device, config);
  forms.insert(forms.begin(), std::move(graph));
  if (device.kind != "cuda" || !(config.fp16 || config.bf16)) return forms;
  bool changed = false;
  passes::RunOptions options = pass_options(config);
  ir::Graph other = forms[0].clone();
  options.changed = [&, dump = options.changed](std::string_view pass, const ir::Graph& result) {
    changed = true;
    if (dump) dump(pass, result);
  };
  passes::run(other, passes::other_form_for_gpu(), options);
  if (changed) forms.push_back(std::move(other));
  return forms;
}

}  // namespace

plan::Plan build_plan(const ir::Graph& graph, const BuildConfig& wanted, const std::string& model_name,
                      std::shared_ptr<backends::Backend> backend, BuildReport& report, const std::function<ir::Graph()>& open_graph) {
  BuildConfig config = wanted;
  if (!config.fast_exp && backend->info().kind == "cpu") config.disabled_passes.push_back("fuse_attention");   // it has an exp of its own
  check_names(config.disabled_passes);
  check_limits(graph);
  const MaySpread may_spread;
  PlanMaker maker(config, model_name, *backend, report);
  std::vector<OptimizationProfile> profiles = config.profiles;
  if (profiles.empty()) profiles.emplace_back();
  if (profiles.size() > 1) maker.name_bindings(graph);
  ir::Graph source = maker.tracked(graph);
  ir::start_names(source, "edit");
  runtime::expand_plugins(source);
  ir::settle_names(source, "expand_plugins");
  if (backend->info().kind == "cpu") quant::tell_of_fused_attention(source, config);
  for (const OptimizationProfile& profile : profiles) {
    Stopwatch watch;
    const std::vector<plan::Range> ranges = symbol_ranges(source, profile, config.log);
    ir::Graph rewritten = source.clone();
    rewrite(rewritten, ranges, backend->info(), config.pack_tokens, pass_options(config));
    tell_of_padding(rewritten, config);
    report.passes_s += watch.seconds();
    const std::set<std::string> wide = too_wide(source, rewritten, profile, backend->info(), config, open_graph, report);
    report.check_s += watch.seconds();
    for (std::string& text : quant::refused_precisions(rewritten, config, backend->info()))
      add_note({Severity::info, NoteKind::precision, "", std::move(text)}, config, report);
    std::vector<ir::Graph> forms = forms_of(std::move(rewritten), wide, backend->info(), config);
    report.passes_s += watch.seconds();
    maker.add(std::move(forms), ranges);
  }
  return maker.finish();
}

namespace {

using OpenedBackend = std::future<std::shared_ptr<backends::Backend>>;

// A GPU's driver takes a third of a second to start: the model is imported meanwhile.
OpenedBackend open_aside(const BuildConfig& config) {
  const auto open = [&config] {
    return backends::open_backend(config.device, config.cpu_features, config.runtime->impl().shared);
  };
  try {
    return std::async(std::launch::async, open);
  } catch (const std::system_error&) {   // this process may start no more threads
    return std::async(std::launch::deferred, open);
  }
}

BuildConfig prepared(const BuildConfig& wanted, const NoteBook& book) {
  BuildConfig config = book.listening(wanted);
  if (config.hardware_compatible && config.device == "cpu" && config.cpu_features == 0) config.cpu_features = backends::kAvx2;
  return config;
}

// `config` listens for `book`.
Engine build_on(OpenedBackend opened, const ir::Graph& graph, const BuildConfig& config, const NoteBook& book,
                const std::string& model_name, const std::string& model_hash, BuildReport* report,
                const std::function<ir::Graph()>& open_graph = {}) {
  BuildReport unused;
  BuildReport& times = report ? *report : unused;
  require(config.optimization_level >= 0 && config.optimization_level <= 5, ErrorKind::invalid_argument, "optimization_level is ",
          config.optimization_level, ", expected 0 to 5");
  check_defaults(graph, config);
  Stopwatch watch;
  std::shared_ptr<backends::Backend> backend = opened.get();
  times.device_s += watch.seconds();
  plan::Plan plan = build_plan(graph, config, model_name, backend, times, open_graph);
  plan.built.model_hash = model_hash;
  watch.seconds();
  plan::verify_built(plan, runtime::tactics_with(*backend, config.plugins.get()), runtime::registry_with(config.plugins.get()));
  Engine engine = open_built(std::move(plan), config, std::move(backend));
  times.open_s += watch.seconds();
  tell_of_forced(config, times);
  hand_over(book, times, engine);
  return engine;
}

}  // namespace

Engine build_graph(const ir::Graph& graph, const BuildConfig& given, const std::string& model_name, BuildReport* report) {
  const NoteBook book;
  const BuildConfig config = prepared(runtime::with_runtime(given), book);
  require(config.overridable.empty(), ErrorKind::invalid_argument,
          "overridable names initialisers of an ONNX model; give an input of a network its default in input_defaults");
  OpenedBackend opened = open_aside(config);
  if (config.input_formats.empty() && config.output_formats.empty())
    return build_on(std::move(opened), graph, config, book, model_name, "", report);
  ir::Graph changed = graph.clone();
  apply_formats(changed, config);
  return build_on(std::move(opened), changed, config, book, model_name, "", report);
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
  for (const auto& [name, format] : config.input_formats)
    if (const auto at = options.input_shapes.find(name); at != options.input_shapes.end())
      at->second = in_models_order(std::move(at->second), format.order);
  for (const std::string& dir : config.external_data_dirs) options.external_data_dirs.emplace_back(dir);
  options.initializers.insert(config.initializers.begin(), config.initializers.end());
  return options;
}

ir::Graph import_source(const Import& import, onnx_import::ImportOptions options, BuildConfig& config) {
  std::map<std::string, Tensor> defaults;
  options.overridable = config.overridable, options.defaults = &defaults;
  ir::Graph graph = import(options);
  for (auto& [name, value] : defaults) {
    const auto format = config.input_formats.find(name);
    config.input_defaults.emplace(name, format == config.input_formats.end() ? value : as_caller_has(value, name, format->second));
  }
  apply_formats(graph, config);
  return graph;
}

namespace {

// Import and start of the device beside each other, then the rest.
Engine import_and_build(const Import& import, const std::function<std::string()>& hash_of_model, const BuildConfig& given,
                        const std::string& model_name, BuildReport* report) {
  const NoteBook book;
  BuildConfig config = prepared(runtime::with_runtime(given), book);
  OpenedBackend opened = open_aside(config);
  const MaySpread may_spread;
  Stopwatch watch;
  const onnx_import::ImportOptions options = import_options(config);
  const ir::Graph graph = import_source(import, options, config);
  const std::string hash = hash_of_model();
  if (report) report->import_s = watch.seconds();
  if (options.input_shapes.empty()) return build_on(std::move(opened), graph, config, book, model_name, hash, report);
  onnx_import::ImportOptions open = options;
  open.input_shapes.clear(), open.check_finite = false, open.log = {};
  return build_on(std::move(opened), graph, config, book, model_name, hash, report, [&] { return import_source(import, open, config); });
}

}  // namespace
}  // namespace tenfold::builder

namespace tenfold {

Engine build_file(const std::string& path, const BuildConfig& config, BuildReport* report) {
  const auto import = [&](const onnx_import::ImportOptions& options) {
    return onnx_import::import_file(path, options, runtime::registry_with(config.plugins.get()));
  };
  const auto hash = [&] { return builder::hash_of(MappedFile::open(path)->bytes()); };
  return builder::import_and_build(import, hash, config, std::filesystem::path(path).filename().string(), report);
}

Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, BuildReport* report) {
  const auto import = [&](const onnx_import::ImportOptions& options) {
    return onnx_import::import_bytes(onnx, options, {}, runtime::registry_with(config.plugins.get()));
  };
  return builder::import_and_build(import, [&] { return builder::hash_of(onnx); }, config, "", report);
}

}  // namespace tenfold
