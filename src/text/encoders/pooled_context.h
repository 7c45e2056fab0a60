// An engine and the contexts of it that no thread uses now. Thread safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tenfold/engine.h"

namespace tenfold::encoders {

class PooledContext {
 public:
  // `batch_tokens`: the most that a run has.
  PooledContext(Engine engine, std::int64_t width, std::int64_t batch_tokens)
      : engine_(std::move(engine)), width_(width), batch_tokens_(batch_tokens) {}
  std::int64_t width() const { return width_; }  // of a row of the output
  std::int64_t batch_tokens() const { return batch_tokens_; }
  void make_contexts(int count);  // so that so many threads at once wait for none
  // An engine of pooling: vectors of tokens, f32[texts, tokens, width].
  void pool(const float* vectors, const Shape& shape, std::span<float> out);
  // Runs ids (and types and a mask, where the engine has them) of [texts, tokens]. `take` gets the output, of so many
  // elements, where the device left it.
  using Take = std::function<void(std::span<const float> out)>;
  void run(const std::int32_t* ids, const std::int32_t* types, const std::uint8_t* mask, std::int64_t texts, std::int64_t tokens,
           std::size_t elements, const RunOptions& options, const Take& take);

 private:
  std::unique_ptr<ExecutionContext> context();
  template <class Find>
  void run_on(const Shape& shape, const Find& find, std::size_t elements, const RunOptions& options, const Take& take);
  void give_back(std::unique_ptr<ExecutionContext> context);
  Engine engine_;
  std::int64_t width_, batch_tokens_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ExecutionContext>> idle_;
};

}  // namespace tenfold::encoders
