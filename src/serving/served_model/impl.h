// The engines that all instances of a model share on a device, and the shapes that its requests may have.
#pragma once

#include <atomic>
#include <future>
#include <mutex>

#include "tenfold/fallback_chain.h"
#include "tenfold/serving/served_model.h"

namespace tenfold::served_model {

// The engines of a model on one device, and what answers where it fails. Thread safe.
class DeviceEngines {
 public:
  // `runs_elsewhere`: whether other engines follow where a run fails.
  DeviceEngines(const std::string& path, const ServedModelOptions& options, const std::string& device, bool runs_elsewhere);
  ~DeviceEngines();
  // The engine for the shapes of the inputs, in the order of the bindings. It may have to be built.
  ServedEngine engine_for(std::span<const Shape> inputs);
  // A run of the engine failed by a fault of its device: whether another engine is there.
  bool report_failure(const ServedEngine& engine, const Error& error);
  const std::string& device() const { return ways_[static_cast<std::size_t>(way_.load())].device; }   // of the engine given last
  const std::string& device_of(const ServedEngine& engine) const { return ways_[static_cast<std::size_t>(engine.way)].device; }
  const std::string& name_of(const ServedEngine& engine) const { return ways_[static_cast<std::size_t>(engine.way)].name; }
  std::string reason() const;                    // of the failure that was last, for FallbackCount
  BuildCounts builds() const { return engines_ ? engines_->builds() : BuildCounts(); }
  // In another thread: has the CPU's engine made, so that it is there when the GPU fails.
  void prepare_fallback();

 private:
  struct Way {
    std::string name, device;
  };
  ServedEngine engine_of_plan();
  void restart_if_due();

  std::vector<Way> ways_;
  std::atomic<int> way_ = 0;
  LogCallback log_;
  mutable std::mutex mutex_;                     // of what follows but `engines_`
  std::string reason_ = "unavailable";
  std::chrono::steady_clock::time_point failed_at_;
  std::chrono::seconds pause_{0};                // before the first way is tried again
  std::optional<FallbackChain> plans_;           // of a plan
  std::unique_ptr<ModelEngines> engines_;        // of a model file
  std::atomic<bool> ends_ = false;
  std::future<void> preparing_;
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
  std::vector<FallbackCount> fallbacks() const override;
  BuildCounts builds() const override;
  void count_fallback(const std::string& to, const std::string& reason, std::size_t requests) const;

 private:
  std::shared_ptr<DeviceEngines> engines_on(const std::string& device);

  std::string path_;
  ServedModelOptions options_;
  std::vector<BindingInfo> bindings_;
  std::vector<std::string> open_;
  std::int64_t max_rows_ = 0;
  std::mutex mutex_;                             // of what follows; held while an engine is built
  std::map<std::string, std::shared_ptr<DeviceEngines>> devices_;
  mutable std::mutex counts_mutex_;
  mutable std::map<std::pair<std::string, std::string>, std::uint64_t> fallbacks_;   // by `to` and reason
  std::vector<std::shared_ptr<DeviceEngines>> loaded_;   // the same as devices_, which is locked while engines are built
};

}  // namespace tenfold::served_model
