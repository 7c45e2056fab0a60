#include "text/decoders/engine.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "tenfold/device.h"
#include "text/transformers/plans.h"

namespace tenfold::decoders {
namespace {

// Raised when networks change, so that plans of older ones are not taken.
constexpr int kNetworks = 4;

// Kernels of a step are chosen for a cache that is half full: `usual` tokens.
OptimizationProfile profile(const CacheSizes& cache, std::int64_t batch, std::int64_t min_tokens, std::int64_t usual_tokens,
                            std::int64_t max_tokens, std::int64_t rows = 1) {
  const std::int64_t usual = std::clamp<std::int64_t>(cache.capacity / 2, usual_tokens, cache.capacity);
  OptimizationProfile profile;
  profile["ids"] = profile["positions"] = {{1, min_tokens}, {batch, usual_tokens}, {batch, max_tokens}};
  profile["start"] = {{1}, {batch}, {batch}};
  profile["last"] = {{1}, {batch * rows}, {batch * rows}};
  profile["keys"] = {{1}, {usual}, {cache.capacity}};
  for (const CacheState& state : cache.states()) {
    const auto shape = [&](std::int64_t sequences) { return Shape{sequences, cache.heads, cache.capacity, state.size}; };
    profile[state.past] = {shape(1), shape(batch), shape(batch)};
  }
  return profile;
}

std::vector<OptimizationProfile> profiles(const CacheSizes& cache, const DecoderOptions& options, std::int64_t speculate) {
  std::vector<OptimizationProfile> all{profile(cache, options.max_batch, 1, 1, 1)};
  const std::int64_t chunk = std::min<std::int64_t>(options.prompt_chunk, cache.capacity);
  if (chunk > 1) all.push_back(profile(cache, options.max_batch, 2, std::max<std::int64_t>(2, chunk / 4), chunk));
  if (const std::int64_t rows = speculate + 1; rows > 1) all.push_back(profile(cache, options.max_batch, 2, rows, rows, rows));
  return all;
}

Tensor filled(const Shape& shape, DType type) {
  Tensor t(type, shape);
  std::memset(t.mutable_raw(), 0, static_cast<std::size_t>(t.bytes()));
  return t;
}

// A prompt, for the look at which values are beyond fp16: numbers at random would be no places in a cache.
NamedTensors prompt(const Model& model, std::int64_t tokens) {
  NamedTensors inputs{{"start", filled({1}, DType::i64)}, {"last", filled({1}, DType::i32)}, {"keys", filled({tokens}, DType::boolean)}};
  Tensor ids(DType::i32, {1, tokens}), positions(DType::i32, {1, tokens});
  std::mt19937 random(1);
  for (std::int64_t i = 0; i < tokens; ++i) {
    ids.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(model.vocabulary));
    positions.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  }
  inputs["last"].mutable_data<std::int32_t>()[0] = static_cast<std::int32_t>(tokens - 1);
  inputs["ids"] = std::move(ids), inputs["positions"] = std::move(positions);
  const CacheSizes& cache = model.cache;
  for (const CacheState& state : cache.states()) inputs[state.past] = filled({1, cache.heads, cache.capacity, state.size}, state.type);
  return inputs;
}

}  // namespace

std::int64_t places_step(const CacheSizes& cache, std::string_view device) {
  constexpr std::int64_t kGraphs = 16, kFewest = 128;
  return is_gpu(device) ? std::max(kFewest, (cache.capacity + kGraphs - 1) / kGraphs) : 1;
}

Engine make_engine(const Model& model, const DecoderOptions& options) {
  BuildConfig config = options.build;
  config.profiles = profiles(model.cache, options, model.speculate);
  const auto make = [&] {
    constexpr std::int64_t kTokens = 64;
    if (config.fp16 && is_gpu(config.device) && config.check_overflow && config.typical_inputs.empty())
      config.typical_inputs = {prompt(model, std::min({kTokens, std::int64_t{options.prompt_chunk}, model.cache.capacity}))};
    return model.built(config);
  };
  const std::optional<PlanCache> cache = transformers::open_cache(options.cache, config.log);
  if (!cache) return make();
  const std::string text = "decoder " + std::to_string(kNetworks) + "\n" + identity_of(model, options.build, *cache) +
                           std::string(name(model.cache.type)) + "\n";
  return cache->get(plan_key(std::as_bytes(std::span(text)), config), make, transformers::load_options(config));
}

}  // namespace tenfold::decoders
