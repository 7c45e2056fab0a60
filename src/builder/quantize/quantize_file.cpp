// An ONNX file with Q/DQ, from top to bottom: read, calibrated, edited, tried, written.
#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/files/file.h"
#include "base/log.h"
#include "builder/builder.h"
#include "builder/model/model.h"
#include "builder/model/profiles.h"
#include "builder/precision/calibrate.h"
#include "builder/quantize/file_edits.h"
#include "builder/quantize/places.h"
#include "onnx_export/edit_model.h"
#include "onnx_export/raise_opset.h"
#include "onnx_import/read_messages.h"
#include "passes/pass.h"
#include "runtime/plugins/plugins.h"

namespace tenfold::builder {
namespace {

constexpr int kOpset = 13;   // the first with scales of each channel
constexpr std::size_t kLargestFile = (std::size_t{1} << 31) - 1;   // that other readers of protocol buffers take

quant::Activations activations_for(QuantizeFor reader) {
  switch (reader) {
    case QuantizeFor::any: return quant::Activations::signed_bytes;
    case QuantizeFor::onnxruntime: return quant::Activations::unsigned_bytes;
    case QuantizeFor::openvino: return quant::Activations::unsigned_if_never_negative;
  }
  fail(ErrorKind::internal, "no such reader");
}

void expect_raisable(const onnx::ModelProto& model, const ir::Registry& registry) {
  const int opset = onnx_export::onnx_opset(model);
  if (opset >= kOpset) return;
  const std::vector<std::string> nodes = onnx_export::nodes_in_the_way(model, kOpset, registry);
  std::string names;
  for (std::size_t i = 0; i < nodes.size() && i < 5; ++i) names += (i ? ", " : "") + nodes[i];
  require(nodes.empty(), ErrorKind::unsupported, "the model imports opset ", opset, ", and scales of each channel need ", kOpset,
          ", where other nodes mean something else: ", names, nodes.size() > 5 ? cat(" and ", nodes.size() - 5, " more") : "",
          ". Convert the model first, with onnx.version_converter.convert_version(model, ", kOpset, ") in Python, or export it anew");
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
  config.cpu_features = given.cpu_features, config.optimization_level = 0, config.keep_portable_graph = false;
  return config;
}

class Quantizer {
 public:
  Quantizer(const std::string& path, const std::string& output, const BuildConfig& given, const QuantizeOptions& options)
      : path_(path), output_(output), config_(for_runs(given)), options_(options), file_(MappedFile::open(path)),
        model_(onnx_import::read_model(file_->bytes())), registry_(runtime::registry_with(config_.plugins.get())) {
    require(config_.calibration.has_value(), ErrorKind::invalid_argument, "BuildConfig::calibration is empty: it gives ranges");
    require(config_.calibration->method != quant::kDynamic, ErrorKind::invalid_argument, "a calibration '", quant::kDynamic,
            "' takes no ranges, and a file with Q/DQ needs them: name another method");
    require(bool(model_.graph), ErrorKind::invalid_model, "the model has no graph");
    expect_places(path, output, model_);
    expect_raisable(model_, registry_);
    excluded_ = products_named(*model_.graph, options.exclude);
  }

  QuantizeReport run() {
    ir::Graph graph = import(file_->bytes());
    if (config_.profiles.empty()) config_.profiles = profiles_of_samples(graph, *config_.calibration);
    const ir::Graph source = graph.clone();
    passes::run(graph, {passes::find_pass("fold_constants")});   // weights that the file computes
    const FileEdits made = edits(graph);
    require(!made.quantised.empty(), ErrorKind::unsupported, "has no product that can be quantised", reasons());
    const onnx_export::Rope bytes = onnx_export::edit_model(file_->bytes(), made.edits);
    measure(source, bytes);
    write(bytes, made.edits);
    return std::move(report_);
  }

 private:
  std::filesystem::path folder() const {
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    return folder.empty() ? "." : folder;
  }
  ir::Graph import(std::span<const std::byte> bytes) {
    return import_source(importing(bytes), import_options(config_), config_);
  }
  Import importing(std::span<const std::byte> bytes) const {
    return [this, bytes](const onnx_import::ImportOptions& options) {
      return onnx_import::import_bytes(bytes, options, folder(), registry_);
    };
  }

  FileEdits edits(ir::Graph& graph) {
    quant::Placing placing{.activations = activations_for(options_.reader)};
    const FileNodes nodes(model_, *graph.model_names);
    placing.takes = [&](const ir::Node& node) {
      const auto place = nodes.place_of(node);
      return place && !excluded_.count(*place);
    };
    const std::vector<plan::Range> ranges = symbol_ranges(graph, profiles_of(config_).front(), config_.log);
    ir::Graph runnable = graph.clone();   // what its shapes decide is not the file's
    specialise(runnable, ranges);
    const quant::Ranges found = calibrated(runnable, ranges, placing, config_, report_.calibration);
    const Before before(graph);
    ir::Graph placed = graph.clone();
    place_qdq(placed, found, placing);
    FileEdits made = file_edits(placed, before, model_, nodes, {.integer_bias = options_.reader == QuantizeFor::onnxruntime,
                                                         .keeps_weights = onnx_export::has_training_info(file_->bytes())});
    tell_products(model_, graph, nodes, excluded_, made.quantised, report_);
    return made;
  }

  std::string reasons() const {
    std::string text;
    for (const QuantizeReport::Left& left : report_.left)
      text += cat(text.empty() ? ": " : "; ", left.nodes.size(), " stay in floats, because ", left.why);
    return text.empty() ? ": it has no Conv, Gemm or MatMul at all" : text;
  }

  // The file as it is to be written, read again.
  void measure(const ir::Graph& source, const onnx_export::Rope& bytes) {
    const std::string text = bytes.flat();
    BuildConfig config = config_;
    config.calibration.reset();
    BuildReport unused;
    const Engine engine = build(model_of(importing(std::as_bytes(std::span(text))), {}, ""), config, unused);
    compare_with_floats(source, engine, config_, report_.calibration);
  }

  void write(const onnx_export::Rope& bytes, const onnx_export::Edits& edits) {
    report_.opset_before = onnx_export::onnx_opset(model_), report_.opset_after = std::max(report_.opset_before, edits.opset);
    const std::int64_t external = external_bytes(model_, {}), kept = external_bytes(model_, edits.left_out);
    report_.bytes_before = static_cast<std::int64_t>(file_->bytes().size()) + external;
    report_.bytes_after = static_cast<std::int64_t>(bytes.size()) + kept;
    if (!options_.external_data && bytes.size() <= kLargestFile) return save(output_, bytes);
    onnx_export::DataFile aside{.name = std::filesystem::path(output_).filename().string() + ".data"};
    const onnx_export::Rope model = onnx_export::edit_model(file_->bytes(), edits, &aside);
    if (aside.bytes.size() > 0) save(output_ + ".data", aside.bytes);
    save(output_, model);
    report_.bytes_after = static_cast<std::int64_t>(model.size() + aside.bytes.size()) + kept;
  }
  static void save(const std::string& path, const onnx_export::Rope& bytes) {
    AtomicFile file(path);
    for (const auto piece : bytes.pieces()) file.write(piece);
    file.commit();
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
}  // namespace tenfold::builder

namespace tenfold {

QuantizeReport quantize_file(const std::string& model, const std::string& output, const BuildConfig& config,
                             const QuantizeOptions& options) {
  try {
    return builder::Quantizer(model, output, config, options).run();
  } catch (Error& error) {
    if (error.kind() == ErrorKind::invalid_model || error.kind() == ErrorKind::unsupported) error.within(model);
    throw;   // as what it is: a ModelError keeps its problems
  }
}

}  // namespace tenfold
