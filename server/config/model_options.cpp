#include "config/model_options.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tenfold/device.h"
#include "tenfold/error.h"
#include "tenfold/runtime.h"

namespace tenfold::server {
namespace {

using cli::ServeOptions;

// A file's without its ending; a folder's.
std::string model_name(const ServeOptions& options, const std::string& path) {
  if (!options.model.name.empty()) return options.model.name;
  std::filesystem::path named = std::filesystem::path(path).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  return std::filesystem::is_directory(path) ? named.filename().string() : named.stem().string();
}

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
  if (std::filesystem::is_directory(path) && !is_encoder_folder(path))
    throw Error(ErrorKind::unsupported, path + " is a folder without an encoder (config.json and a tokenizer), and this server takes a "
                                               "model file, a plan or an encoder's folder: serve repositories by Triton and "
                                               "libtriton_tenfold.so");
}

EncoderPrecision encoder_precision(const std::string& precision) {
  return precision.empty() ? EncoderPrecision::by_build : parse_encoder_precision(precision);
}

// The queue's budget is the one that runs of the engine have, so that what a batch holds is computed at once.
void set_encoder(ModelOptions& model, const ServeOptions& options) {
  ServedEncoderOptions served;
  served.encoder.build = model.served.build;
  served.encoder.build.optimization_level = options.model.tune == "never" ? 0 : 1;
  served.encoder.build.device = model.instances.front().device;
  const std::string& dtype = options.text.dtype;
  served.encoder.precision = dtype == "float16"    ? EncoderPrecision::fp16
                             : dtype == "bfloat16" ? EncoderPrecision::bf16
                                                   : encoder_precision(options.model.precision);
  served.encoder.cache = PlanCacheOptions{.folder = options.model.plan_cache_folder};
  served.fallback = model.served.fallback;
  const EncoderInfo info = Encoder::load(model.path, served.encoder).info();
  std::int64_t& budget = model.queue.max_tokens;
  budget = options.text.batch_tokens;
  if (budget == 0) budget = std::max<std::int64_t>(is_gpu(served.encoder.build.device) ? 16384 : 2048, info.max_tokens);
  served.encoder.max_tokens = static_cast<int>(std::min<std::int64_t>(info.max_tokens, budget));
  served.encoder.batch_tokens = budget;
  if (!options.text.prompt.empty()) served.prompt = options.text.prompt;
  if (const std::string& name = options.text.prompt_name; !name.empty()) {
    if (served.prompt) throw Error(ErrorKind::invalid_argument, "--default-prompt and --default-prompt-name are both given: one is enough");
    const auto found = info.prompts.find(name);
    if (found == info.prompts.end())
      throw Error(ErrorKind::invalid_argument, "--default-prompt-name is '" + name + "', which is none of the prompts of " + model.path);
    served.prompt = found->second;
  }
  model.encoder = std::move(served);
}

}  // namespace

ModelOptions model_options(const ServeOptions& options, const std::string& path) {
  check_file(path);
  ModelOptions model;
  model.path = path;
  model.name = model_name(options, path);
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
  RuntimeOptions runtime;
  runtime.log = served.build.log;
  served.build.runtime = std::make_shared<Runtime>(runtime);
  if (is_encoder_folder(path)) set_encoder(model, options);
  model.queue.preferred_rows = options.queue.preferred;
  model.queue.max_delay = std::chrono::microseconds(options.queue.delay_us);
  model.queue.max_requests = static_cast<std::size_t>(options.queue.size);
  model.queue.default_timeout = std::chrono::microseconds(options.queue.timeout_us);
  return model;
}

TextOptions text_options(const ServeOptions& options) {
  TextOptions text;
  if (options.text.max_texts > 0) text.max_texts = static_cast<std::size_t>(options.text.max_texts);
  text.tokenizers = options.text.tokenizers;
  text.truncate = options.text.truncate;
  text.allow_token_input = options.text.token_input, text.allow_dimensions = options.text.dimensions;
  text.any_model_name = !options.text.model_id.empty();
  return text;
}

StartRow load_model(Models& models, const ServeOptions& options, const std::string& path) {
  StartRow row;
  row.model = model_name(options, path);
  row.version = "1", row.precision = options.model.precision.empty() ? "tf32" : options.model.precision;
  row.device = row.batch = "-";
  try {
    const auto model = std::make_shared<Model>(model_options(options, path));
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
