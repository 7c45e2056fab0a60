// What a ServedModel has: its bindings, and for each device the engines that all instances there share.
#pragma once

#include <mutex>

#include "tenfold/serving/served_model.h"

namespace tenfold::served_model {

// The engines of a model on one device. Thread safe.
class DeviceEngines {
 public:
  DeviceEngines(const std::string& path, const ServedModelOptions& options, const std::string& device);
  // The engine for the shapes of the inputs, in the order of the bindings. It may have to be built.
  ServedEngine engine_for(std::span<const Shape> inputs);
  const std::string& device() const { return device_; }

 private:
  std::string device_;
  std::optional<Engine> engine_;                 // of a plan
  std::unique_ptr<ModelEngines> engines_;        // of a model file
};

bool is_model_file(const std::string& path);
// "input 'x' of the model"
std::string subject(const BindingInfo& binding);
// "batch x 3", with '?' for extents that are open and have no name.
std::string shape_of(const BindingInfo& binding);
// The bindings with what options fix. Throws invalid_argument where options and model contradict each other.
std::vector<BindingInfo> restricted(std::vector<BindingInfo> bindings, const ServedModelOptions& options);
// The most rows of a batch that the profiles of a plan permit; 0: it has no batch dim.
std::int64_t max_rows(const Engine& plan);
// Inputs with open extents beside the batch dim.
std::vector<std::string> open_inputs(std::span<const BindingInfo> bindings, std::int64_t max_batch);
// Ranges for one engine, of the inputs that the file leaves open: one row, and batches of up to `max_batch`. Empty: the
// file fixes all extents.
std::vector<OptimizationProfile> batch_profiles(std::span<const BindingInfo> of_file,
                                                std::span<const BindingInfo> restricted, std::int64_t max_batch);

}  // namespace tenfold::served_model

namespace tenfold {

struct ServedModel::Impl {
  std::string path;
  ServedModelOptions options;
  std::vector<BindingInfo> bindings;
  std::vector<std::string> open;
  std::int64_t max_rows = 0;                     // that a plan permits; 0: any number
  std::mutex mutex;                              // of what follows; held while an engine is built
  std::map<std::string, std::shared_ptr<served_model::DeviceEngines>> devices;

  std::shared_ptr<served_model::DeviceEngines> engines_on(const std::string& device);
  void log(Severity severity, const std::string& text) const;
};

}  // namespace tenfold
