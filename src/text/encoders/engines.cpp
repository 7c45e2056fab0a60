#include "text/encoders/engines.h"

#include <filesystem>

#include "tenfold/device.h"
#include "text/encoders/identity.h"
#include "text/fail.h"
#include "text/tokenizers/files/folder.h"
#include "text/transformers/plans.h"

namespace tenfold::encoders {

using tokenizing::fail;
using transformers::load_options;

namespace {

constexpr std::int64_t kTokensOnACpu = 2048, kTokensOnAGpu = 16384;
// Raised when networks change, so that plans of older ones are not taken.
constexpr int kNetworks = 4;

std::string text_of(const OutputRequest& request) {
  return std::to_string(request.output) + " " + std::to_string(request.skipped) + " " + std::to_string(static_cast<int>(request.function)) +
         (request.packed ? " packed" : "");
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

Engines::Engines(std::shared_ptr<const Model> model, EncoderOptions options, int max_tokens, PrecisionWish precision,
                 std::shared_ptr<EngineCache> cache)
    : model_(std::move(model)),
      options_(std::move(options)),
      max_tokens_(max_tokens),
      batch_tokens_(options_.batch_tokens),
      precision_(std::move(precision)),
      cache_(std::move(cache)) {
  if (batch_tokens_ < 0) fail(ErrorKind::invalid_argument, "batch_tokens is " + std::to_string(batch_tokens_));
  if (batch_tokens_ == 0) batch_tokens_ = is_gpu(options_.build.device) ? kTokensOnAGpu : kTokensOnACpu;
}

bool Engines::packs(const OutputRequest& request) const {
  if (!options_.packed.value_or(is_gpu(options_.build.device))) return false;
  return !options_.make_engine && !precision_.samples && model_->packing(request) != PackTokens::no;
}

BuildConfig Engines::config_for(const OutputRequest& request, std::int64_t width) const {
  BuildConfig config = options_.build;
  if (!config.profiles.empty())
    fail(ErrorKind::invalid_argument, "EncoderOptions::build has profiles; an encoder makes its own from max_tokens and batch_tokens");
  std::vector<std::string> inputs{"ids"};
  if (request.output == OutputRequest::scores && model_->has_types()) inputs.emplace_back("types");
  if (request.packed) inputs.emplace_back("mask"), config.pack_tokens = model_->packing(request);
  config.profiles = profiles_for(max_tokens_, request.skipped + 1, batch_tokens_, inputs, request.packed);
  if (width > 0)
    for (OptimizationProfile& profile : config.profiles) {
      ShapeRange range = profile.at("ids");
      for (Shape* shape : {&range.min, &range.opt, &range.max}) shape->push_back(width);
      profile = {{"tokens", range}};
    }
  // The caller's own calibration, whose samples cannot know of these profiles.
  if (config.calibration && config.calibration->shapes.empty() && config.calibration->profile == 0)
    config.calibration->shapes = profile_of_samples(config.profiles);
  return config;
}

// What the plan is made of: the folder and what is asked for. Under the cache's lock.
std::string Engines::key(const OutputRequest& request, BuildConfig config) {
  if (cache_->identity.empty()) cache_->identity = identity_of(*model_);
  permit(precision_.precision, config);
  const std::string text = "encoder " + std::to_string(kNetworks) + " " + text_of(request) + " " + std::to_string(options_.dimensions) +
                           " " + std::to_string(options_.normalize) + "\n" + text_of(precision_) + "\n" + cache_->identity;
  return plan_key(std::as_bytes(std::span(text)), config);
}

std::string Engines::fingerprint() {
  const auto lock = serving::lock_or_end(cache_->mutex);
  return key({}, config_for({}, 0));
}

// What engines that may have one plan have in common.
std::string Engines::kind() const {
  const BuildConfig& build = options_.build;
  return build.device.substr(0, build.device.find(':')) + " " + std::to_string(build.threads) + " " + std::to_string(batch_tokens_) + " ";
}

bool Engines::halve(std::int64_t from) {
  const auto lock = serving::lock_or_end(mutex_);
  if (batch_tokens_ != from) return true;  // another thread has done it
  if (from / 2 < max_tokens_) return false;
  if (options_.build.log)
    options_.build.log(Severity::warning, "the device '" + options_.build.device + "' has too little memory for batches of " +
                                              std::to_string(from) + " tokens, and goes on with " + std::to_string(from / 2));
  runners_.clear();
  const auto sharing = serving::lock_or_end(cache_->mutex);
  std::erase_if(cache_->engines, [start = kind()](const auto& one) { return one.first.starts_with(start); });
  batch_tokens_ = from / 2;
  return true;
}

// An engine of the same kind on another device has the same plan. A device that refuses it gets one of its own.
Graded Engines::copy_or_build(const OutputRequest& request, const Network& network, std::int64_t width, const BuildConfig& config) {
  const std::string kind = this->kind() + text_of(request);
  if (const auto it = cache_->engines.find(kind); it != cache_->engines.end()) {
    std::vector<std::byte> plan;
    it->second.engine.save([&](std::span<const std::byte> some) { plan.insert(plan.end(), some.begin(), some.end()); });
    try {
      return {Engine::load(plan, load_options(config)), it->second.int8_cosine};
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::plan_refused) throw;
    }
  }
  return cache_->engines.insert_or_assign(kind, build_graded(precision_, request, network, width, config)).first->second;
}

Graded Engines::make(const OutputRequest& request, Network network, std::int64_t width) {
  // The width of tokens' vectors is known of the network that takes them.
  const BuildConfig config =
      config_for(request, request.output == OutputRequest::pooling ? network.dims(network.inputs().front()).back().extent : 0);
  const auto lock = serving::lock_or_end(cache_->mutex);
  if (options_.make_engine && request.output == OutputRequest::vectors && request.skipped == 0) {
    Engine engine = options_.make_engine(std::move(network), config, key(request, config));
    check_bindings(engine);
    return {std::move(engine), -1};
  }
  const std::optional<PlanCache> cache = transformers::open_cache(options_.cache, config.log);
  if (!cache) return copy_or_build(request, network, width, config);
  double int8_cosine = -1;
  const auto make = [&] {
    Graded graded = copy_or_build(request, network, width, config);
    int8_cosine = graded.int8_cosine;
    return graded.engine;
  };
  const std::string key = this->key(request, config);
  Engine engine = cache->get(key, make, load_options(config));
  // What was built is not held beside what `load` made of its file, where other devices find it.
  if (std::error_code none; options_.cache->load && std::filesystem::exists(cache->path(key), none))
    cache_->engines.erase(kind() + text_of(request));
  return {std::move(engine), int8_cosine};
}

std::string Engines::precision() const {
  const std::lock_guard lock(report_mutex_);
  return made_in_;
}
double Engines::int8_cosine() const {
  const std::lock_guard lock(report_mutex_);
  return int8_cosine_;
}

std::shared_ptr<PooledContext> Engines::get(const OutputRequest& request) {
  const auto lock = serving::lock_or_end(mutex_);
  std::shared_ptr<PooledContext>& runner = runners_[request];
  if (!runner) {
    Network network = model_->network(request, options_);
    const std::int64_t width = network.dims(network.outputs().front()).back().extent;
    Graded graded = make(request, std::move(network), width);
    {
      const std::lock_guard report_lock(report_mutex_);
      made_in_ = precision_of(graded.engine), int8_cosine_ = graded.int8_cosine;
    }
    runner = std::make_shared<PooledContext>(std::move(graded.engine), width, batch_tokens_);
    if (model_->weights) model_->weights->forget();   // the engine has them in its own form
  }
  return runner;
}

}  // namespace tenfold::encoders
