#include "config/model_defaults.h"

#include "config/build_options.h"
#include "observe/log.h"
#include "tenfold/device.h"
#include "tenfold/error.h"
#include "tenfold/runtime.h"

namespace tenfold::server {
namespace {

using cli::ServeOptions;

std::string chosen_device(const ServeOptions& options) {
  if (!options.model.device.empty()) {
    if (options.model.device != "cpu" && !is_gpu(options.model.device))
      throw Error(ErrorKind::invalid_argument, "--device takes cpu or cuda:N, not '" + options.model.device + "'");
    return options.model.device;
  }
  for (const DeviceDescription& device : devices())
    if (is_gpu(device.device)) return device.device;
  return "cpu";
}

void set_precision(BuildConfig& build, const std::string& precision) {
  if (precision == "fp32") build.tf32 = false;
  if (precision == "fp16") build.fp16 = true;
  if (precision == "bf16") build.bf16 = true;
  if (precision == "auto") build.auto_precision = true;
}

std::optional<PlanCache> open_cache(const std::string& folder) {
  try {
    return PlanCache({.folder = folder});
  } catch (const Error& error) {
    if (!folder.empty()) throw;
    log_warning(std::string("plans are not kept, so each start builds them anew (--plan-cache-dir gives a folder): ") + error.what());
    return std::nullopt;
  }
}

void set_served(ServedModelOptions& served, const ServeOptions& options) {
  served.fallback = options.model.device.empty();      // a device that was named is that one, or an error
  if (options.model.tune == "now") served.tune = Tune::now;
  if (options.model.tune == "background") served.tune = Tune::background;
  if (options.model.tune == "never") served.tune = Tune::never;
  served.cache = open_cache(options.model.plan_cache_folder);
  set_precision(served.build, options.model.precision);
  served.build.threads = options.model.threads;
  served.build.log = [](Severity severity, std::string_view line) {
    if (severity == Severity::error) log_error(line);
    if (severity == Severity::warning) log_warning(line);
  };
  set_build_options(served, options);
  RuntimeOptions runtime;
  runtime.log = served.build.log;
  served.build.runtime = std::make_shared<Runtime>(runtime);
}

}  // namespace

ModelDefaults model_defaults(const ServeOptions& options) {
  ModelDefaults defaults;
  set_served(defaults.base.served, options);
  QueueOptions& queue = defaults.base.queue;
  queue.preferred_rows = options.queue.preferred;
  queue.max_delay = std::chrono::microseconds(options.queue.delay_us);
  queue.max_requests = static_cast<std::size_t>(options.queue.size);
  queue.default_timeout = std::chrono::microseconds(options.queue.timeout_us);
  defaults.base.cache_responses = options.memory.cache_bytes > 0;
  defaults.base.unload_after = std::chrono::seconds(options.repository.unload_after_s);
  Completion& completion = defaults.completion;
  completion.enabled = options.repository.complete;
  completion.default_max_batch = options.repository.default_max_batch;
  completion.device = chosen_device(options);
  completion.instances = options.model.instances;
  if (options.model.max_batch >= 0) completion.max_batch = options.model.max_batch;
  defaults.text = text_defaults(options);
  return defaults;
}

}  // namespace tenfold::server
