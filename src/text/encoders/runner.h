// An engine and the contexts of it that no thread uses now. Thread safe.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tenfold/engine.h"

namespace tenfold::encoders {

class Runner {
 public:
  Runner(Engine engine, std::int64_t width) : engine_(std::move(engine)), width_(width) {}
  std::int64_t width() const { return width_; }  // of a row of the output
  const Engine& engine() const { return engine_; }
  // Runs ids (and types, where the engine has them) of [texts, tokens]; `out` gets the output.
  void run(const std::int32_t* ids, const std::int32_t* types, std::int64_t texts, std::int64_t tokens, std::span<float> out);

 private:
  std::unique_ptr<ExecutionContext> context();
  Engine engine_;
  std::int64_t width_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ExecutionContext>> idle_;
};

}  // namespace tenfold::encoders
