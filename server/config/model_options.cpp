#include "config/model_options.h"

#include <cstdio>
#include <filesystem>

#include "config/build_options.h"
#include "tenfold/device.h"
#include "tenfold/error.h"
#include "tenfold/runtime.h"

namespace tenfold::server {
namespace {

using cli::ServeOptions;

constexpr std::chrono::seconds kBetweenLines{5};   // of progress

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
    std::fprintf(stderr, "plans are not kept, so each start builds them anew (--plan-cache-dir gives a folder): %s\n", error.what());
    return std::nullopt;
  }
}

void check_file(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw Error(ErrorKind::unsupported, path + " is a folder, and this server takes a model file or a plan: serve repositories and "
                                               "encoders' folders by Triton and libtriton_tenfold.so");
}

}  // namespace

ModelOptions model_options(const ServeOptions& options, const std::string& path) {
  check_file(path);
  ModelOptions model;
  model.path = path;
  model.name = options.model.name.empty() ? std::filesystem::path(path).stem().string() : options.model.name;
  model.instances = {{chosen_device(options), options.model.instances}};
  ServedModelOptions& served = model.served;
  served.max_batch = options.model.max_batch;
  served.fallback = options.model.device.empty();      // a device that was named is that one, or an error
  if (options.model.tune == "now") served.tune = Tune::now;
  if (options.model.tune == "background") served.tune = Tune::background;
  if (options.model.tune == "never") served.tune = Tune::never;
  served.cache = open_cache(options.model.plan_cache_folder);
  set_precision(served.build, options.model.precision);
  served.build.threads = options.model.threads;
  served.build.log = [](Severity severity, std::string_view line) {
    if (severity == Severity::error || severity == Severity::warning)
      std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };
  set_build_options(served, options);
  RuntimeOptions runtime;
  runtime.log = served.build.log;
  served.build.runtime = std::make_shared<Runtime>(runtime);
  model.queue.preferred_rows = options.queue.preferred;
  model.queue.max_delay = std::chrono::microseconds(options.queue.delay_us);
  model.queue.max_requests = static_cast<std::size_t>(options.queue.size);
  model.queue.default_timeout = std::chrono::microseconds(options.queue.timeout_us);
  model.cache_responses = options.memory.cache_bytes > 0;
  return model;
}

StartRow load_model(Models& models, const ServeOptions& options, const std::string& path) {
  StartRow row;
  row.model = options.model.name.empty() ? std::filesystem::path(path).stem().string() : options.model.name;
  row.version = "1", row.precision = options.model.precision.empty() ? "tf32" : options.model.precision;
  row.device = row.batch = "-";
  try {
    ModelOptions of_model = model_options(options, path);
    set_progress(of_model.served, [said = std::chrono::steady_clock::now(), &row](const std::string& text) mutable {
      if (std::chrono::steady_clock::now() - said < kBetweenLines) return;
      said = std::chrono::steady_clock::now();
      std::fprintf(stderr, "%s: %s\n", row.model.c_str(), text.c_str());
    });
    const auto model = std::make_shared<Model>(std::move(of_model));
    row.device = model->devices().front();
    if (options.model.instances > 1) row.device += " x " + std::to_string(options.model.instances);
    row.batch = std::to_string(model->max_batch());
    if (!model->not_batched().empty()) row.reason = "not batched: " + model->not_batched();
    models.add(model);
    row.ready = true;
  } catch (const std::exception& error) {
    row.reason = error.what();
  }
  return row;
}

}  // namespace tenfold::server
