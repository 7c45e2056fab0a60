// Opening a model, and the instances that run it: one set of engines for each device, whatever the number of instances.
#include <algorithm>

#include "served_model/instance.h"
#include "tenfold/device.h"
#include "tenfold/internal/as_error.h"

namespace tenfold {

using namespace served_model;

namespace {

// Errors that say something about the device, and nothing about the model.
bool may_work_elsewhere(ErrorKind kind) {
  return kind == ErrorKind::device || kind == ErrorKind::out_of_memory || kind == ErrorKind::unsupported ||
         kind == ErrorKind::invalid_argument;
}

Engine load_plan(const std::string& path, const ServedModelOptions& options) {
  LoadOptions load;
  load.plugins = options.build.plugins, load.log = options.build.log, load.runtime = options.build.runtime;
  return load_compatible(path, load);
}

}  // namespace

FileModel::FileModel(const std::string& path, ServedModelOptions options) : path_(path), options_(std::move(options)) {
  const bool model_file = is_model_file(path);
  const std::optional<Engine> plan = model_file ? std::nullopt : std::optional(load_plan(path, options_));
  const std::vector<BindingInfo> of_file = plan ? plan->bindings() : model_bindings(path, options_.build);
  bindings_ = restricted(of_file, options_);
  if (plan) max_rows_ = served_model::max_rows(*plan);
  if (plan && options_.max_batch > max_rows_)
    throw Error(ErrorKind::invalid_argument, "the plan was built for up to " + std::to_string(max_rows_) + " rows, but batches of " +
                                                 std::to_string(options_.max_batch) + " are configured: build it for a larger profile");
  if (!options_.build.profiles.empty() || !model_file) return;
  open_ = served_model::open_inputs(bindings_, options_.max_batch);
  if (!open_.empty() && !options_.tune) options_.tune = Tune::background;
  if (open_.empty()) options_.build.profiles = batch_profiles(of_file, bindings_, options_.max_batch);
}

namespace {
bool exists(const std::string& device) {
  const auto all = tenfold::devices();
  return std::any_of(all.begin(), all.end(), [&](const DeviceDescription& one) { return one.device == device; });
}
}  // namespace

std::shared_ptr<DeviceEngines> FileModel::engines_on(const std::string& device) {
  const std::lock_guard lock(mutex_);
  auto& engines = devices_[device];
  if (engines) return engines;
  // A GPU that does not exist is no way to anything: create_instance() has the CPU then, with an engine that is tuned for it.
  engines = std::make_shared<DeviceEngines>(path_, options_, device, options_.fallback_at_runs && is_gpu(device) && exists(device));
  if (open_.empty()) engines->prepare_fallback();
  const std::lock_guard counts(counts_mutex_);
  loaded_.push_back(engines);
  return engines;
}

void FileModel::count_fallback(const std::string& to, const std::string& reason, std::size_t requests) const {
  const std::lock_guard lock(counts_mutex_);
  fallbacks_[{to, reason}] += requests;
}

std::vector<FallbackCount> FileModel::fallbacks() const {
  const std::lock_guard lock(counts_mutex_);
  std::vector<FallbackCount> all;
  for (const auto& [key, requests] : fallbacks_) all.push_back({"engine", key.first, key.second, requests});
  return all;
}

BuildCounts FileModel::builds() const {
  const std::lock_guard lock(counts_mutex_);
  BuildCounts sum;
  for (const auto& engines : loaded_) {
    const BuildCounts one = engines->builds();
    sum.built += one.built, sum.cached += one.cached;
  }
  return sum;
}

std::unique_ptr<ServedInstance> FileModel::create_instance(const std::string& device) {
  return as_error([&]() -> std::unique_ptr<ServedInstance> {
    std::shared_ptr<DeviceEngines> engines;
    std::string reason;
    try {
      engines = engines_on(device);
    } catch (const Error& error) {
      if (!options_.fallback || !is_gpu(device) || !may_work_elsewhere(error.kind())) throw;
      if (options_.build.log)
        options_.build.log(Severity::warning,
                           "device " + device + " cannot be used, so the instance runs on the CPU: " + error.what());
      engines = engines_on("cpu");
      reason = "unavailable";
    }
    auto made = std::make_unique<FileInstance>(shared_from_this(), std::move(engines), std::move(reason));
    if (open_.empty()) made->prepare();
    return made;
  });
}

ServedModel::~ServedModel() = default;

std::shared_ptr<ServedModel> open_served_model(const std::string& path, ServedModelOptions options) {
  return as_error([&] { return std::make_shared<served_model::FileModel>(path, std::move(options)); });
}

}  // namespace tenfold
