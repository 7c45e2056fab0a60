// An ONNX file with Q/DQ, from top to bottom: read, calibrated, edited, tried, written.
#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/files/file.h"
#include "base/log.h"
#include "builder/builder.h"
#include "builder/model/model.h"
#include "builder/model/profiles.h"
#include "builder/model/write_model.h"
#include "builder/precision/calibrate.h"
#include "builder/quantize/model_uses.h"
#include "builder/quantize/places.h"
#include "builder/quantize/rewriting.h"
#include "builder/quantize/within_error.h"
#include "onnx_export/edit_model.h"
#include "onnx_export/raise_opset.h"
#include "onnx_import/external_data.h"
#include "onnx_import/read_messages.h"
#include "passes/pass.h"
#include "runtime/plugins/plugins.h"
#include "tenfold/internal/as_error.h"

namespace tenfold::builder {
namespace {

void expect_raisable(const onnx::ModelProto& model, int requested, const ir::Registry& registry) {
  const int opset = onnx_export::onnx_opset(model);
  if (opset >= requested) return;
  const std::vector<std::string> nodes = onnx_export::nodes_in_the_way(model, requested, registry);
  std::string names;
  for (std::size_t i = 0; i < nodes.size() && i < 5; ++i) names += (i ? ", " : "") + nodes[i];
  require(nodes.empty(), ErrorKind::unsupported, "the model imports opset ", opset, ", and what is to be written needs ", requested,
          ", where other nodes mean something else: ", names, nodes.size() > 5 ? cat(" and ", nodes.size() - 5, " more") : "",
          ". Convert the model first, with onnx.version_converter.convert_version(model, ", requested, ") in Python, or export it anew");
}

// The shapes of dynamic inputs, from the least to the largest of all samples.
std::vector<OptimizationProfile> profiles_of_samples(const ir::Graph& graph, const Calibration& calibration) {
  OptimizationProfile profile;
  for (const ir::Value* input : graph.inputs) {
    if (!input->type.is_tensor() || ir::is_constant(input->dims()) || !calibration.sample) continue;
    for (int i = 0; i < calibration.samples; ++i) {
      const std::optional<InputSet> sample = calibration.sample(i);
      if (!sample) break;
      const auto value = sample->find(input->name);
      if (value == sample->end()) break;   // the run tells of it
      const Shape& shape = value->second.shape();
      ShapeRange& range = profile.try_emplace(input->name, ShapeRange{shape, shape, shape}).first->second;
      require(shape.size() == range.min.size(), ErrorKind::invalid_argument, "samples of the input '", input->name,
              "' differ in their number of dimensions");
      for (std::size_t d = 0; d < shape.size(); ++d)
        range.min[d] = std::min(range.min[d], shape[d]), range.max[d] = std::max(range.max[d], shape[d]);
    }
  }
  return {profile};
}

// Runs and comparisons are the CPU's, in f32 and exact integers.
BuildConfig for_runs(const BuildConfig& given) {
  BuildConfig config;
  config.calibration = given.calibration, config.profiles = given.profiles, config.external_data_dirs = given.external_data_dirs;
  config.overridable = given.overridable, config.plugins = given.plugins, config.threads = given.threads, config.log = given.log;
  config.cpu_features = given.cpu_features, config.budget = given.budget, config.optimization_level = 0, config.keep_portable_graph = false;
  return config;
}

bool is_of_groups(QuantizeType type) { return type != QuantizeType::int8 && type != QuantizeType::fp8; }

std::string type_name(QuantizeType type) {
  switch (type) {
    case QuantizeType::int8: return "int8";
    case QuantizeType::fp8: return "fp8";
    case QuantizeType::int4: return "int4";
    case QuantizeType::nbits4: return "4 bits";
    case QuantizeType::nbits8: return "8 bits";
  }
  fail(ErrorKind::invalid_argument, cat("QuantizeOptions::type is ", static_cast<int>(type), ", which is no type"));
}

class Quantizer {
 public:
  Quantizer(const std::string& path, const std::string& output, const BuildConfig& given, const QuantizeOptions& options)
      : path_(path), output_(output), config_(for_runs(given)), options_(options), file_(MappedFile::read(path)),
        model_(onnx_import::read_model(file_->bytes())), registry_(runtime::registry_with(config_.plugins.get())) {
    require(config_.calibration || is_of_groups(options.type), ErrorKind::invalid_argument,
            "BuildConfig::calibration is empty: it gives ranges");
    require(!config_.calibration || config_.calibration->method != quant::kDynamic, ErrorKind::invalid_argument, "a calibration '",
            quant::kDynamic, "' takes no ranges, and a file with Q/DQ needs them: name another method");
    require(bool(model_.graph), ErrorKind::invalid_model, "the model has no graph");
    expect_places(path, output, model_);
    expect_raisable(model_, opset_of(options.type), registry_);
    excluded_ = products_named(*model_.graph, options.exclude);
  }

  QuantizeReport run() {
    ir::Graph graph = import(file_->bytes());
    if (config_.profiles.empty() && config_.calibration) config_.profiles = profiles_of_samples(graph, *config_.calibration);
    const ir::Graph source = graph.clone();
    passes::run(graph, {passes::find_pass("fold_constants")});   // weights that the file computes
    const FileEdits made = edits(source, graph);
    if (config_.calibration) measure(source, made.edits);
    write(made.edits);
    return std::move(report_);
  }

 private:
  ir::Graph import(std::span<const std::byte> bytes) {
    return import_source(importing(bytes), import_options(config_), config_);
  }
  Import importing(std::span<const std::byte> bytes) const {
    return [this, bytes](const onnx_import::ImportOptions& options) {
      return onnx_import::import_bytes(bytes, options, path_, registry_);
    };
  }

  FileEdits edits(const ir::Graph& source, const ir::Graph& graph) {
    const FileNodes nodes(model_, *graph.model_names);
    const std::vector<plan::Range> ranges = symbol_ranges(graph, profiles_of(config_).front(), config_.log);
    const FileSource from{model_, source, graph, nodes, ranges, config_, options_, onnx_export::has_training_info(file_->bytes())};
    const auto rewriting = is_of_groups(options_.type)
                               ? with_groups(
                                     from, excluded_, [this](const onnx_export::Edits& e) { return engine_of(e); }, report_.calibration)
                               : with_qdq(from, excluded_, report_.calibration);
    FileEdits made = rewriting->edits({});
    WhyLeft left = rewriting->why_left();
    for (const std::size_t place : excluded_) left[place] = "they are excluded";
    report_layers(model_, graph, nodes, left, made.quantized, report_);
    require(!made.quantized.empty(), ErrorKind::unsupported, "has no GEMM or convolution that can be quantized", reasons());
    if (!config_.budget) return made;
    const Places wide = kept_in_floats(
        source, config_, products(made.quantized), type_name(options_.type),
        [&](const Places& in_floats) { return engine_of(rewriting->edits(in_floats).edits); }, report_.budget.emplace());
    for (const std::size_t place : wide) left[place] = "they cost most of the error";
    made = rewriting->edits(wide);
    report_.layers = report_.quantized = 0, report_.left.clear();
    report_layers(model_, graph, nodes, left, made.quantized, report_);
    return made;
  }

  std::vector<FileProduct> products(const Places& places) const {
    std::vector<FileProduct> list;
    for (const std::size_t place : places) list.push_back({place, shown(model_.graph->node[place]), model_.graph->node[place].op_type});
    return list;
  }

  std::string reasons() const {
    std::string text;
    for (const QuantizeReport::Left& left : report_.left)
      text += cat(text.empty() ? ": " : "; ", left.nodes.size(), " stay in floats, because ", left.why);
    return text.empty() ? ": it has no Conv, Gemm or MatMul at all" : text;
  }

  // The file as it is to be written, read again.
  Engine engine_of(const onnx_export::Edits& edits) {
    const std::string text = onnx_export::edit_model(file_->bytes(), edits).flat();
    BuildConfig config = config_;
    config.calibration.reset(), config.budget.reset();
    BuildReport unused;
    return build(model_of(importing(std::as_bytes(std::span(text))), {}, ""), config, unused);
  }

  void measure(const ir::Graph& source, const onnx_export::Edits& edits) {
    CalibrationReport reported{.values = 1};   // where weights alone are narrower, no value has a range
    compare_with_floats(source, engine_of(edits), config_, reported);
    CalibrationReport& report = report_.calibration;
    report.compared = reported.compared, report.errors = std::move(reported.errors), report.seconds += reported.seconds;
  }

  // What the file needs of the model's external data comes along: it is tied to no other file.
  void write(const onnx_export::Edits& edits) {
    onnx_import::ExternalData external(path_, {config_.external_data_dirs.begin(), config_.external_data_dirs.end()});
    report_.opset_before = onnx_export::onnx_opset(model_), report_.opset_after = std::max(report_.opset_before, edits.opset);
    report_.bytes_before = static_cast<std::int64_t>(file_->bytes().size()) + external_bytes(model_);
    report_.bytes_after =
        static_cast<std::int64_t>(write_model(file_->bytes(), edits, external, output_, options_.external_data));
  }

  const std::string path_, output_;
  BuildConfig config_;
  const QuantizeOptions options_;
  const std::shared_ptr<const MappedFile> file_;
  const onnx::ModelProto model_;
  const ir::Registry& registry_;
  std::set<std::size_t> excluded_;
  QuantizeReport report_;
};

}  // namespace

int opset_of(QuantizeType type) {
  switch (type) {
    case QuantizeType::int8: return 13;   // scales of each channel
    case QuantizeType::fp8: return 19;
    case QuantizeType::int4: return 21;   // blocks
    default: return 7;                    // as ONNX Runtime's own operators
  }
}
void raise_versions(const onnx::ModelProto& model, QuantizeType type, FileEdits& edits) {
  if (edits.quantized.empty()) return;
  FreshNames names(model);
  onnx_export::write_raised(
      model, opset_of(type), [&](const std::string& stem) { return names.value(stem); }, edits.edits);
  edits.edits.opset = opset_of(type);
  edits.edits.ir_version = type == QuantizeType::fp8 ? 9 : type == QuantizeType::int4 ? 10 : 0;
}

}  // namespace tenfold::builder

namespace tenfold {

QuantizeReport quantize_file(const std::string& model, const std::string& output, const BuildConfig& config,
                             const QuantizeOptions& options) {
  try {
    return as_error([&] { return builder::Quantizer(model, output, config, options).run(); });
  } catch (Error& error) {
    if (error.kind() == ErrorKind::invalid_model || error.kind() == ErrorKind::unsupported) error.within(model);
    throw;   // as what it is: a ModelError keeps its problems
  }
}

}  // namespace tenfold
