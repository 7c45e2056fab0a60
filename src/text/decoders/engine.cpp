#include "text/decoders/engine.h"

#include <algorithm>

#include "text/transformers/plans.h"

namespace tenfold::decoders {
namespace {

// Raised when networks change, so that plans of older ones are not taken.
constexpr int kNetworks = 2;

// Kernels of a step are chosen for a cache that is a quarter full: `usual` tokens.
OptimizationProfile profile(const CacheSizes& cache, std::int64_t batch, std::int64_t min_tokens, std::int64_t usual_tokens,
                            std::int64_t max_tokens) {
  const std::int64_t usual = std::clamp<std::int64_t>(cache.capacity / 4, usual_tokens, cache.capacity);
  OptimizationProfile profile;
  profile["ids"] = profile["positions"] = {{1, min_tokens}, {batch, usual_tokens}, {batch, max_tokens}};
  profile["start"] = profile["last"] = {{1}, {batch}, {batch}};
  profile["keys"] = {{1}, {usual}, {cache.capacity}};
  const auto shape = [&](std::int64_t sequences) { return Shape{sequences, cache.heads, cache.capacity, cache.size}; };
  for (std::int64_t layer = 0; layer < cache.layers; ++layer)
    for (const bool values : {false, true}) profile[past_name(layer, values)] = {shape(1), shape(batch), shape(batch)};
  return profile;
}

std::vector<OptimizationProfile> profiles(const CacheSizes& cache, const DecoderOptions& options) {
  std::vector<OptimizationProfile> all{profile(cache, options.max_batch, 1, 1, 1)};
  const std::int64_t chunk = std::min<std::int64_t>(options.prompt_chunk, cache.capacity);
  if (chunk > 1) all.push_back(profile(cache, options.max_batch, 2, std::max<std::int64_t>(2, chunk / 4), chunk));
  return all;
}

}  // namespace

Engine make_engine(const Model& model, const DecoderOptions& options) {
  BuildConfig config = options.build;
  config.profiles = profiles(model.cache, options);
  const auto make = [&] { return model.built(config); };
  const std::optional<PlanCache> cache = transformers::open_cache(options.cache, config.log);
  if (!cache) return make();
  const std::string text = "decoder " + std::to_string(kNetworks) + "\n" + identity_of(model);
  return cache->get(plan_key(std::as_bytes(std::span(text)), config), make, transformers::load_options(config));
}

}  // namespace tenfold::decoders
