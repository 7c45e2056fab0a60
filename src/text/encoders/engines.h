// The engines of an encoder, made or taken from the cache when they are needed, and their contexts.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "device_pool/wait.h"
#include "text/encoders/precision.h"
#include "text/encoders/pooled_context.h"

namespace tenfold::encoders {

// What the devices of one encoder share while engines are made: one makes at a time, and what is equal is made once.
struct EngineCache {
  std::timed_mutex mutex;
  std::string identity;                   // of the folder, once it is needed
  std::map<std::string, Graded> engines;  // by kind of device, threads, and what is request
};

class Engines {
 public:
  Engines(std::shared_ptr<const Model> model, EncoderOptions options, int max_tokens, PrecisionWish precision,
          std::shared_ptr<EngineCache> cache);
  std::shared_ptr<PooledContext> get(const OutputRequest& request);  // throws what builds throw
  std::int64_t batch_tokens() const { return batch_tokens_; }
  // Whether there is an engine for texts of several lengths together. On GPUs it pays: each run costs as much as thousands of tokens.
  bool packs(const OutputRequest& request) const;
  // After out_of_memory with batches of so many tokens: later engines are made for half of them. False: there is nothing
  // left to halve.
  bool halve(std::int64_t from);
  std::string fingerprint();  // of its vectors; throws io
  // Of the newest engine, as DeviceWork has them.
  std::string precision() const;
  double int8_cosine() const;

 private:
  BuildConfig config_for(const OutputRequest& request, std::int64_t width) const;
  Graded make(const OutputRequest& request, Network network, std::int64_t width);
  Graded copy_or_build(const OutputRequest& request, const Network& network, std::int64_t width, const BuildConfig& config);
  std::string key(const OutputRequest& request, BuildConfig config);
  std::string kind() const;
  std::shared_ptr<const Model> model_;
  EncoderOptions options_;
  int max_tokens_;
  std::atomic<std::int64_t> batch_tokens_;
  PrecisionWish precision_;
  std::shared_ptr<EngineCache> cache_;
  std::timed_mutex mutex_;
  mutable std::mutex report_mutex_;  // of what follows: a build holds the other one for long
  std::string made_in_;
  double int8_cosine_ = -1;
  std::map<OutputRequest, std::shared_ptr<PooledContext>> runners_;
};

// Ranges of (texts, tokens) whose product stays within the budget: one text alone where texts are not packed, then ever longer ones.
std::vector<OptimizationProfile> profiles_for(int max_tokens, int min_tokens, std::int64_t batch_tokens,
                                              const std::vector<std::string>& inputs, bool packed);
// Of texts one by one, of every length that some of these profiles have: what a calibration's samples are.
OptimizationProfile profile_of_samples(const std::vector<OptimizationProfile>& profiles);
// How many texts of so many tokens one run may have.
std::int64_t texts_in_a_run(std::int64_t tokens, int max_tokens, std::int64_t batch_tokens, bool packed);

}  // namespace tenfold::encoders
