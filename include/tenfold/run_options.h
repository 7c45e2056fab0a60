// Options of one run: what may stop it before its last step.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

namespace tenfold {

// A handle that any thread may trip to stop the runs that were given it: those under way between two steps, those that begin later at
// once. A tripped token stays tripped; other runs are not touched. Copies are one token. Thread safe.
class CancelToken {
 public:
  CancelToken() = default;                                        // no token: never tripped
  static CancelToken create() { return CancelToken(std::make_shared<std::atomic<bool>>(false)); }
  void cancel() const noexcept {
    if (tripped_) tripped_->store(true, std::memory_order_relaxed);
  }
  bool cancelled() const noexcept { return tripped_ && tripped_->load(std::memory_order_relaxed); }

 private:
  explicit CancelToken(std::shared_ptr<std::atomic<bool>> tripped) : tripped_(std::move(tripped)) {}
  std::shared_ptr<std::atomic<bool>> tripped_;
};

// The run reads them where they are: they live until it returns. Steps are not interrupted, nor is a GPU that replays a whole run.
struct RunOptions {
  CancelToken token;                                              // tripped before the run returns: Status::cancelled
  // Passed before a step begins: Status::deadline. A run whose last step has begun ends as ever.
  std::optional<std::chrono::steady_clock::time_point> deadline;
};

}  // namespace tenfold
