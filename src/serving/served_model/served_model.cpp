// Opening a model, and the instances that run it: one set of engines for each device, whatever the number of instances.
#include "served_model/instance.h"
#include "tenfold/internal/as_error.h"

namespace tenfold {
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

void ServedModel::Impl::log(Severity severity, const std::string& text) const {
  if (options.build.log) options.build.log(severity, text);
}

std::shared_ptr<served_model::DeviceEngines> ServedModel::Impl::engines_on(const std::string& device) {
  const std::lock_guard lock(mutex);
  auto& engines = devices[device];
  if (!engines) engines = std::make_shared<served_model::DeviceEngines>(path, options, device);
  return engines;
}

ServedModel::ServedModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServedModel::~ServedModel() = default;
const std::vector<BindingInfo>& ServedModel::bindings() const noexcept { return impl_->bindings; }
const std::vector<std::string>& ServedModel::open_inputs() const noexcept { return impl_->open; }
std::int64_t ServedModel::max_rows() const noexcept { return impl_->max_rows; }

std::shared_ptr<ServedModel> ServedModel::open(const std::string& path, ServedModelOptions options) {
  return as_error([&] {
    auto impl = std::make_unique<Impl>();
    const bool model_file = served_model::is_model_file(path);
    const std::optional<Engine> plan = model_file ? std::nullopt : std::optional(load_plan(path, options));
    const std::vector<BindingInfo> of_file = plan ? plan->bindings() : model_bindings(path, options.build);
    impl->bindings = served_model::restricted(of_file, options);
    if (plan) impl->max_rows = served_model::max_rows(*plan);
    if (plan && options.max_batch > impl->max_rows)
      throw Error(ErrorKind::invalid_argument, "the plan was built for up to " + std::to_string(impl->max_rows) + " rows, but batches of " +
                                                   std::to_string(options.max_batch) + " are configured: build it for a larger profile");
    if (options.build.profiles.empty() && model_file) {
      impl->open = served_model::open_inputs(impl->bindings, options.max_batch);
      if (impl->open.empty())
        options.build.profiles = served_model::batch_profiles(of_file, impl->bindings, options.max_batch);
    }
    impl->path = path, impl->options = std::move(options);
    return std::make_shared<ServedModel>(std::move(impl));
  });
}

std::unique_ptr<ServedInstance> ServedModel::create_instance(const std::string& device) {
  return as_error([&] {
    std::shared_ptr<served_model::DeviceEngines> engines;
    try {
      engines = impl_->engines_on(device);
    } catch (const Error& error) {
      if (!impl_->options.fallback || !is_gpu(device) || !may_work_elsewhere(error.kind())) throw;
      impl_->log(Severity::warning, "device " + device + " cannot be used, so the instance runs on the CPU: " + error.what());
      engines = impl_->engines_on("cpu");
    }
    auto made = std::make_unique<ServedInstance::Impl>();
    made->model = shared_from_this(), made->served = impl_.get(), made->engines = std::move(engines);
    if (impl_->open.empty()) made->context_for(made->engines->engine_for({}));   // its memory is had before requests come
    return std::make_unique<ServedInstance>(std::move(made));
  });
}

}  // namespace tenfold
