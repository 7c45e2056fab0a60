// The engines of an encoder, made or taken from the cache when they are needed, and their contexts.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "text/encoders/model.h"

namespace tenfold::encoders {

// An engine and the contexts of it that no thread uses now.
class Runner {
 public:
  Runner(Engine engine, std::int64_t width) : engine_(std::move(engine)), width_(width) {}
  std::int64_t width() const { return width_; }  // of a row of the output
  // Runs ids (and types, where the engine has them) of [texts, tokens]; `out` gets the output.
  void run(const std::int32_t* ids, const std::int32_t* types, std::int64_t texts, std::int64_t tokens, std::span<float> out);

 private:
  std::unique_ptr<ExecutionContext> context();
  Engine engine_;
  std::int64_t width_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ExecutionContext>> idle_;
};

class Engines {
 public:
  Engines(std::shared_ptr<const Model> model, EncoderOptions options, int max_tokens);
  Runner& get(const Wanted& wanted);  // throws what builds throw
  std::int64_t batch_tokens() const { return batch_tokens_; }
  const EncoderOptions& options() const { return options_; }

 private:
  Engine make(const Wanted& wanted, Network network);
  std::string key(const Wanted& wanted, const BuildConfig& config);
  std::shared_ptr<const Model> model_;
  EncoderOptions options_;
  int max_tokens_;
  std::int64_t batch_tokens_;
  std::mutex mutex_;
  std::string weights_;  // a text of the weights' hashes, once it is needed
  std::map<Wanted, std::unique_ptr<Runner>> runners_;
};

// Ranges of (texts, tokens) whose product stays within the budget: one text alone, then ever longer ones.
std::vector<OptimizationProfile> profiles_for(int max_tokens, int least_tokens, std::int64_t batch_tokens, bool types);
// How many texts of so many tokens one run may have.
std::int64_t texts_in_a_run(std::int64_t tokens, int max_tokens, std::int64_t batch_tokens);

}  // namespace tenfold::encoders
