// Engines of one device: of a plan its one engine, of a model file those that ModelEngines finds or builds.
#include "served_model/impl.h"

namespace tenfold::served_model {

bool is_model_file(const std::string& path) { return path.ends_with(".onnx"); }

DeviceEngines::DeviceEngines(const std::string& path, const ServedModelOptions& options, const std::string& device)
    : device_(device) {
  const BuildConfig& build = options.build;
  if (!is_model_file(path)) {
    LoadOptions load;
    load.device = device, load.threads = build.threads, load.plugins = build.plugins;
    load.log = build.log, load.runtime = build.runtime, load.cpu_features = build.cpu_features;
    engine_ = load_compatible(path, load);
    return;
  }
  ModelEnginesOptions engines;
  engines.build = build, engines.build.device = device;
  engines.tune = options.tune.value_or(Tune::now), engines.cache = options.cache;
  engines_ = std::make_unique<ModelEngines>(path, std::move(engines));
  // With profiles there is one engine for all requests, and loading the model is the time to build it.
  if (engines_->open_inputs().empty()) engines_->engine_for(std::span<const Shape>());
}

ServedEngine DeviceEngines::engine_for(std::span<const Shape> inputs) {
  if (engine_) return {*engine_, 1, true, true};
  std::vector<Shape> open;   // none where one engine serves all
  for (const int input : engines_->open_inputs()) open.push_back(inputs[static_cast<std::size_t>(input)]);
  return engines_->engine_for(open);
}

}  // namespace tenfold::served_model
