// The engines that all instances of a model share on a device, and the shapes that its requests may have.
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

// A ServedModel of a file.
class FileModel final : public ServedModel, public std::enable_shared_from_this<FileModel> {
 public:
  FileModel(const std::string& path, ServedModelOptions options);
  const std::vector<BindingInfo>& bindings() const noexcept override { return bindings_; }
  const std::vector<std::string>& open_inputs() const noexcept override { return open_; }
  std::int64_t max_rows() const noexcept override { return max_rows_; }
  std::unique_ptr<ServedInstance> create_instance(const std::string& device) override;
  std::int64_t max_batch() const { return options_.max_batch; }

 private:
  std::shared_ptr<DeviceEngines> engines_on(const std::string& device);

  std::string path_;
  ServedModelOptions options_;
  std::vector<BindingInfo> bindings_;
  std::vector<std::string> open_;
  std::int64_t max_rows_ = 0;
  std::mutex mutex_;                             // of what follows; held while an engine is built
  std::map<std::string, std::shared_ptr<DeviceEngines>> devices_;
};

}  // namespace tenfold::served_model
