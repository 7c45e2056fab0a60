#include "text/encoders/engines.h"

#include "tenfold/version.h"
#include "text/encoders/safetensors.h"
#include "text/fail.h"
#include "text/files/folder.h"

namespace tenfold::encoders {

using tokenizing::fail;

namespace {

constexpr std::int64_t kTokensOnACpu = 2048, kTokensOnAGpu = 16384;
// Raised when networks change, so that plans of older ones are not taken.
constexpr int kNetworks = 2;

LoadOptions load_options(const BuildConfig& config) {
  LoadOptions load;
  load.threads = config.threads, load.pin_threads = config.pin_threads, load.cpu_features = config.cpu_features;
  if (config.device.starts_with("cuda")) load.device = config.device;
  load.plugins = config.plugins, load.log = config.log, load.runtime = config.runtime;
  return load;
}

void need(const ExecutionContext& context, Status status) {
  if (status) return;
  ErrorKind kind = ErrorKind::internal;
  if (status.code == Status::out_of_memory) kind = ErrorKind::out_of_memory;
  if (status.code == Status::device) kind = ErrorKind::device;
  fail(kind, "running the encoder: " + context.describe(status));
}

// Of an engine that the caller made: run() binds by these names.
void check_bindings(const Engine& engine) {
  std::string found;
  bool ids = false, out = false;
  for (const BindingInfo& b : engine.bindings()) {
    found += (found.empty() ? "" : ", ") + b.name;
    ids = ids || (b.is_input && b.name == "ids" && b.dtype == DType::i32);
    out = out || (!b.is_input && b.name == "out" && b.dtype == DType::f32);
  }
  if (!ids || !out || engine.bindings().size() != 2)
    fail(ErrorKind::invalid_argument, "the engine that make_engine gave has " + found +
                                          "; an encoder runs what has the input 'ids' (i32) and the output 'out' (f32)");
}

}  // namespace

std::unique_ptr<ExecutionContext> Runner::context() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto one = std::move(idle_.back());
      idle_.pop_back();
      return one;
    }
  }
  return engine_.create_context();
}

void Runner::run(const std::int32_t* ids, const std::int32_t* types, std::int64_t texts, std::int64_t tokens, std::span<float> out) {
  auto context = this->context();
  const Shape shape{texts, tokens};
  const std::int64_t bytes = texts * tokens * static_cast<std::int64_t>(sizeof(std::int32_t));
  const std::vector<BindingInfo>& bindings = engine_.bindings();
  for (int i = 0; i < static_cast<int>(bindings.size()); ++i) {
    if (!bindings[static_cast<std::size_t>(i)].is_input) {
      need(*context, context->bind(i, out.data(), static_cast<std::int64_t>(out.size_bytes())));
      continue;
    }
    need(*context, context->set_input_shape(i, shape));
    const std::int32_t* from = bindings[static_cast<std::size_t>(i)].name == "types" ? types : ids;
    need(*context, context->bind(i, const_cast<std::int32_t*>(from), bytes));
  }
  need(*context, context->run());
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(context));
}

Engines::Engines(std::shared_ptr<const Model> model, EncoderOptions options, int max_tokens)
    : model_(std::move(model)), options_(std::move(options)), max_tokens_(max_tokens), batch_tokens_(options_.batch_tokens) {
  if (batch_tokens_ < 0) fail(ErrorKind::invalid_argument, "batch_tokens is " + std::to_string(batch_tokens_));
  if (batch_tokens_ == 0) batch_tokens_ = options_.build.device.starts_with("cuda") ? kTokensOnAGpu : kTokensOnACpu;
}

// What the plan is made of: the folder's files, the weights by their hashes, and what is asked for.
std::string Engines::key(const Wanted& wanted, const BuildConfig& config) {
  if (weights_.empty()) {
    std::vector<std::string> files = model_->weights ? model_->weights->files() : std::vector<std::string>{model_->folder.onnx};
    for (const Module& module : model_->folder.modules)
      if (module.type == "Dense") files.push_back(module.path + "/model.safetensors");
    for (const std::string& file : files)
      if (!file.ends_with(".onnx"))
        weights_ += plan_key(FileBytes::open(file)->bytes(), {}) + "\n";
      else
        weights_ += plan_key(file, {}) + "\n";
    for (const std::string& file : model_->folder.files) weights_ += tokenizing::read_file(file) + "\n";
  }
  const std::string text = "encoder " + std::to_string(kNetworks) + " " + std::to_string(wanted.output) + " " +
                           std::to_string(wanted.skipped) + " " + std::to_string(static_cast<int>(wanted.function)) + " " +
                           std::to_string(options_.dimensions) + " " + std::to_string(options_.normalize) + "\n" + weights_;
  return plan_key(std::as_bytes(std::span(text)), config);
}

Engine Engines::make(const Wanted& wanted, Network network) {
  BuildConfig config = options_.build;
  if (!config.profiles.empty())
    fail(ErrorKind::invalid_argument, "EncoderOptions::build has profiles; an encoder makes its own from max_tokens and batch_tokens");
  config.profiles = profiles_for(max_tokens_, wanted.skipped + 1, batch_tokens_, wanted.output == Wanted::scores && model_->has_types());
  if (options_.make_engine && wanted.output == Wanted::vectors && wanted.skipped == 0) {
    Engine engine = options_.make_engine(std::move(network), config, key(wanted, config));
    check_bindings(engine);
    return engine;
  }
  const auto make = [&] { return build(network, config); };
  if (!options_.cache) return make();
  std::optional<PlanCache> cache;
  try {
    cache.emplace(*options_.cache);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::io) throw;
    if (config.log) config.log(Severity::warning, std::string("plans are not kept: ") + e.what());
    return make();
  }
  return cache->get(key(wanted, config), make, load_options(config));
}

Runner& Engines::get(const Wanted& wanted) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Runner>& runner = runners_[wanted];
  if (!runner) {
    Network network = model_->network(wanted, options_);
    const std::int64_t width = network.dims(network.outputs().front()).back().extent;
    runner = std::make_unique<Runner>(make(wanted, std::move(network)), width);
  }
  return *runner;
}

}  // namespace tenfold::encoders
