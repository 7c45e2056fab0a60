#include "builder/stages.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "backends/device_traits.h"
#include "base/log.h"
#include "builder/model/profiles.h"
#include "builder/diagnostics.h"
#include "builder/precision/cache_origin.h"
#include "builder/precision/calibrate.h"
#include "builder/precision/overflow.h"
#include "builder/program/limits.h"
#include "builder/stopwatch.h"
#include "builder/time_limit.h"
#include "builder/verbose.h"
#include "ir/text.h"
#include "passes/packing.h"
#include "passes/precision/layer_types.h"
#include "passes/precision/notes.h"
#include "passes/precision/qdq.h"

namespace tenfold::builder {
namespace {

passes::RunOptions pass_options(const BuildConfig& config) {
  passes::RunOptions options{.disabled = config.disabled_passes};
  if (config.dump) options.changed = [&config](std::string_view pass, const ir::Graph& graph) { config.dump(pass, ir::print(graph)); };
  return with_logged_passes(std::move(options), config);
}

void rewrite_at(ir::Graph& graph, const std::vector<plan::Range>& ranges, const std::vector<passes::Pass>& passes,
                const passes::RunOptions& options) {
  specialize(graph, ranges);
  if (options.changed) options.changed("import", graph);
  passes::run(graph, passes, options);
}

void log_padding(const ir::Graph& graph, const std::vector<passes::Pass>& passes, const BuildConfig& config) {
  if (config.pack_tokens == PackTokens::no || !passes::packed_token_symbols(graph).empty()) return;
  const auto fuses = [](const passes::Pass& pass) { return pass.name == "fuse_attention"; };
  const auto disabled = std::count(config.disabled_passes.begin(), config.disabled_passes.end(), "fuse_attention");
  if (disabled > 0 || std::none_of(passes.begin(), passes.end(), fuses))
    return Log(config.log)(Severity::warning,
                           "tokens are not packed: that needs fused attention, which --noFastExp or disabling fuse_attention leaves out");
  const bool zeros = config.pack_tokens == PackTokens::with_zeros;
  Log(config.log)(
      Severity::warning, "tokens are not packed: no attention was found whose mask comes from an input of [batch, sequence] and ",
      zeros ? "whose results are read token by token" : "whose results are read by means under that mask alone (--packTokens=zeros)");
}

// Whether attention in e4m3 is to be compared with one in 16 bits, which has the faster kernels where rows are short.
bool compares_attention(const passes::PrecisionFacts& facts, const backends::DeviceTraits& device, const BuildConfig& config) {
  return facts.quantized && config.fp8 && device.float8_gemm && times_kernels(config);
}
bool attends_in_float8(const ir::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) { return node->op() == "AttentionFloat8"; });
}

// Whether convolutions whose channels fill 16 bytes are to be compared with those of the model's channels, which read less.
bool compares_channels(const backends::DeviceTraits& device, const BuildConfig& config) {
  const std::vector<std::string>& disabled = config.disabled_passes;
  return device.launches && times_kernels(config) && std::count(disabled.begin(), disabled.end(), "pad_channels") == 0;
}

// Whether f32 may be faster than bf16: weights that stay in the caches are read so fast that converting values costs more than it saves.
// Where the types were left to the build, it is looked at for larger models, too.
bool compares_f32(const ir::Graph& graph, const backends::DeviceTraits& device, const BuildConfig& config) {
  if (!config.bf16 || !device.bf16_gemm || !times_kernels(config)) return false;
  constexpr std::int64_t kSmall = 4 << 20;
  return constant_bytes(graph) <= (config.auto_precision && device.host_arithmetic ? kMaxCompared : kSmall);
}

// What became of the types that were permitted, or given to layers.
void log_types(const ir::Graph& graph, const Stages& stages, const passes::PrecisionFacts& facts) {
  const BuildConfig& config = stages.config;
  for (const auto& [type, layers] : passes::layers_by_type(graph)) stages.report.layers_by_type[type] = layers;
  for (std::string& text : passes::unused_precisions(graph, config, stages.device))
    add_note({Severity::info, NoteKind::precision, "", std::move(text)}, config, stages.report);
  if (!passes::gives_layer_types(config)) return;
  for (passes::UnmetType& one : passes::unmet_layer_types(graph, config, facts.quantized, stages.device)) {
    if (config.layer_types.constraints == LayerConstraints::obey)
      throw Error(ErrorKind::unsupported, one.text + "; ask for another type, or let layers prefer it (--precisionConstraints=prefer)");
    add_note({Severity::warning, NoteKind::precision, std::move(one.layer), std::move(one.text)}, config, stages.report);
  }
}

// Whether GEMMs quantize their rows at run time, as a calibration "dynamic" permits; a note says what it costs, or why not.
bool quantizes_rows(bool quantized, const Stages& stages) {
  if (quantized) return false;   // as its author left it
  const backends::DeviceTraits traits = backends::traits_of(stages.device);
  const bool can = traits.host_arithmetic || traits.tensor_core_gemm;
  const char* text = can ? "int8 without data, a cache or QuantizeLinear and DequantizeLinear: dynamic quantization: GEMMs with constant "
                           "weights quantize each row at run time, convolutions stay wide; ranges of typical inputs (--data=PATH) may be "
                           "faster"
                         : "int8 without ranges is for CPUs and GPUs: here it needs data (--data=PATH), a cache, or a model with "
                           "QuantizeLinear and DequantizeLinear";
  add_note({Severity::warning, NoteKind::precision, "", text}, stages.config, stages.report);
  return can;
}

void expect_types(const BuildConfig& config) {
  const std::vector<DType>& types = config.calibration->types;
  require(!types.empty(), ErrorKind::invalid_argument, "Calibration::types is empty: i8 or f8e4m3fn is needed");
  for (const DType type : types) {
    require(type == DType::i8 || type == DType::f8e4m3fn, ErrorKind::invalid_argument, "Calibration::types has ", name(type),
            ": i8 and f8e4m3fn are the types that layers can be quantized to");
    const bool integers = type == DType::i8;
    require(integers ? config.int8 : config.fp8, ErrorKind::invalid_argument, "calibration to ", name(type), " needs ",
            integers ? "BuildConfig::int8 = true" : "BuildConfig::fp8 = true");
  }
}

// `changed`: names of the passes that changed the graph.
void run_settling(ir::Graph& graph, const passes::Pipeline& pipeline, const Stages& stages, const passes::PrecisionFacts& facts,
                  const BuildConfig& config, std::set<std::string, std::less<>>* changed = nullptr) {
  passes::run(graph, pipeline.precision, pass_options(config));
  if (&config == &stages.config) log_types(graph, stages, facts);
  if (backends::traits_of(stages.device).tensor_core_gemm)
    passes::log_quantized_types(graph, facts.quantized, Log(config.log, Severity::verbose));
  passes::RunOptions options = pass_options(config);
  if (changed)
    options.changed = [changed, told = options.changed](std::string_view pass, const ir::Graph& result) {
      changed->emplace(pass);
      if (told) told(pass, result);
    };
  passes::run(graph, pipeline.fuse, options);
}
// The form that the graph has without a pass.
ir::Graph settled_without(const char* pass, ir::Graph graph, const passes::Pipeline& pipeline, const Stages& stages,
                          const passes::PrecisionFacts& facts) {
  BuildConfig without = stages.config;
  without.disabled_passes.emplace_back(pass), without.dump = nullptr;
  run_settling(graph, pipeline, stages, facts, without);
  return graph;
}

// What other passes make of the settled graph; nothing if there are none, or they find nothing to change.
std::optional<ir::Graph> other_form(const ir::Graph& settled, const passes::Pipeline& pipeline, const BuildConfig& config) {
  if (pipeline.other_form.empty()) return {};
  bool changed = false;
  passes::RunOptions options = pass_options(config);
  ir::Graph other = settled.clone();
  options.changed = [&, dump = options.changed](std::string_view pass, const ir::Graph& result) {
    changed = true;
    if (dump) dump(pass, result);
  };
  passes::run(other, pipeline.other_form, options);
  if (!changed) return {};
  return other;
}

}  // namespace

std::int64_t constant_bytes(const ir::Graph& graph) {
  std::int64_t bytes = 0;
  for (const auto& v : graph.values())
    if (v->is_constant()) bytes += v->constant->tensor.bytes();
  return bytes;
}

void Stages::check(const ir::Graph& graph) const {
  const std::set<std::string> known = passes::pass_names();
  for (const std::string& name : config.disabled_passes) {
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
    require(known.count(name), ErrorKind::invalid_argument, "there is no pass '", name, "' to disable; the passes are ", list);
  }
  require(config.newest_row.empty() || backends::traits_of(device).host_arithmetic, ErrorKind::unsupported,
          "newest_row is for CPUs, whose runs can be divided: build without it for this device");
  check_limits(graph);
}

void Stages::check_layers(const ir::Graph& source) const {
  const LayerTypes& types = config.layer_types;
  if (passes::gives_layer_types(config)) passes::check_layer_types(source, types);
  else if (!types.precisions.empty() || !types.output_types.empty())
    Log(config.log)(Severity::warning, "types of layers are ignored: LayerTypes::constraints (--precisionConstraints) is none");
}

ir::Graph Stages::rewrite(const ir::Graph& source, const std::vector<plan::Range>& ranges) const {
  Stopwatch watch;
  const InStage stage("rewriting the graph");
  const std::vector<passes::Pass> passes = passes::pipeline_for(device, config).rewrite;
  ir::Graph graph = source.clone();
  rewrite_at(graph, ranges, passes, pass_options(config));
  log_padding(graph, passes, config);
  report.passes_s += watch.seconds();
  return graph;
}

void Stages::find_ranges(const ir::Graph& source, const ir::Graph& rewritten, const std::vector<plan::Range>& ranges) {
  if (findings.ranges) return;
  const InStage stage("taking ranges of the calibration's samples");
  expect_types(config);
  const CacheOrigin origin(source, *config.calibration);
  BuildConfig watched = config;
  watched.calibration = origin.watched();
  findings.ranges = calibrated(rewritten, ranges, passes::placing_for(device, config), watched, findings.calibration = {});
  origin.keep(findings.calibration);
}

void Stages::find_ranges_elsewhere(const ir::Graph& source) {
  const auto& calibration = config.calibration;
  if (!calibration || findings.ranges || (calibration->profile == 0 && calibration->shapes.empty())) return;
  const std::vector<plan::Range> ranges = symbol_ranges(source, profile_of_samples(config), config.log);
  find_ranges(source, rewrite(source, ranges), ranges);
}

passes::PrecisionFacts Stages::look(const ir::Graph& source, const ir::Graph& rewritten, const OptimizationProfile& profile,
                           const std::vector<plan::Range>& ranges) {
  Stopwatch watch;
  const InStage stage("looking for what 16 bits cannot hold");
  passes::PrecisionFacts facts{.quantized = passes::is_quantized(rewritten), .types = passes::own_types(source)};
  if (findings.keeps_rewritten && !findings.rewritten) findings.rewritten = rewritten.clone();
  if (config.calibration) {
    find_ranges(source, rewritten, ranges);
    report.calibration = findings.calibration;
    if (config.calibration->method == quant::kDynamic) facts.rows = quantizes_rows(facts.quantized, *this);
    facts.ranges = *findings.ranges, facts.quantized |= facts.rows || !facts.ranges.empty();
    watch.seconds();
  }
  const bool alone = config.fp16 && !config.bf16;   // it was asked for by name, and not with all others
  for (std::string& text : passes::refused_precisions(rewritten, config, device)) {
    const Severity severity = alone && text.starts_with("fp16") ? Severity::warning : Severity::info;
    add_note({severity, NoteKind::precision, "", std::move(text)}, config, report);
  }
  if (!backends::traits_of(device).half_values || !passes::may_use_fp16(config) || !config.check_overflow) return facts;
  const passes::RunOptions quiet{.disabled = config.disabled_passes};
  const std::vector<passes::Pass> passes = passes::pipeline_for(device, config).rewrite;
  OverflowCheck check{.config = config, .rewrite = [&](ir::Graph& copy, const std::vector<plan::Range>& at) {
                        rewrite_at(copy, at, passes, quiet);
                      }, .open = {}, .report = &report, .known = &findings.too_large};
  if (open_graph)
    check.open = [&] {
      ir::Graph open = open_graph();
      std::vector<plan::Range> ranges = symbol_ranges(open, profile, {});
      return std::pair(std::move(open), std::move(ranges));
    };
  facts.wide = values_beyond_f16(source, rewritten, ranges, check);
  report.check_s += watch.seconds();
  return facts;
}

std::vector<ir::Graph> Stages::set_precision(ir::Graph rewritten, const passes::PrecisionFacts& facts) const {
  Stopwatch watch;
  const InStage stage("settling types and fusing nodes");
  const passes::Pipeline pipeline = passes::pipeline_for(device, config, facts);
  std::vector<ir::Graph> forms;
  if (compares_f32(rewritten, backends::traits_of(device), config)) {
    BuildConfig in_f32 = config;
    in_f32.bf16 = false, in_f32.dump = nullptr;
    forms.push_back(rewritten.clone());
    run_settling(forms[0], passes::pipeline_for(device, in_f32, facts), *this, facts, in_f32);
  }
  const backends::DeviceTraits traits = backends::traits_of(device);
  std::optional<ir::Graph> wide_attention, own_channels;
  if (compares_attention(facts, traits, config)) wide_attention = rewritten.clone();
  if (compares_channels(traits, config)) own_channels = rewritten.clone();
  std::set<std::string, std::less<>> changed;
  run_settling(rewritten, pipeline, *this, facts, config, &changed);
  if (wide_attention && attends_in_float8(rewritten))
    forms.push_back(settled_without("fuse_float8_attention", std::move(*wide_attention), pipeline, *this, facts));
  if (own_channels && changed.count("pad_channels") > 0)
    forms.push_back(settled_without("pad_channels", std::move(*own_channels), pipeline, *this, facts));
  forms.insert(forms.begin(), std::move(rewritten));
  if (std::optional<ir::Graph> other = other_form(forms[0], pipeline, config)) forms.push_back(std::move(*other));
  report.passes_s += watch.seconds();
  return forms;
}

}  // namespace tenfold::builder
