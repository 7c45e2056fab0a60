#include "builder/model/model.h"

#include <map>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "builder/model/formats.h"

namespace tenfold::builder {
namespace {

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

}  // namespace

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

Model model_of(Import import, std::function<std::string()> hash, std::string name) {
  Model model{.name = std::move(name), .read = {}, .hash = std::move(hash)};
  model.read = [import](BuildConfig& config) {
    return std::make_shared<const ir::Graph>(import_source(import, import_options(config), config));
  };
  model.open_graph = [import](const BuildConfig& config) -> std::function<ir::Graph()> {
    onnx_import::ImportOptions open = import_options(config);
    if (open.input_shapes.empty()) return {};
    open.input_shapes.clear(), open.check_finite = false, open.log = {};
    return [import, open = std::move(open), own = BuildConfig(config)]() mutable { return import_source(import, open, own); };
  };
  return model;
}

Model model_of(const ir::Graph& graph, std::string name) {
  return {.name = std::move(name), .read = [&graph](BuildConfig& config) -> std::shared_ptr<const ir::Graph> {
    require(config.overridable.empty(), ErrorKind::invalid_argument,
            "overridable names initializers of an ONNX model; give an input of a network its default in input_defaults");
    if (config.input_formats.empty() && config.output_formats.empty()) return {std::shared_ptr<void>(), &graph};
    auto changed = std::make_shared<ir::Graph>(graph.clone());
    apply_formats(*changed, config);
    return changed;
  }};
}

}  // namespace tenfold::builder
