// Options of one run, which may stop it before its last step.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

namespace tenfold {

// A handle by which any thread may stop the runs that were given it. Runs under way stop between two steps; runs that
// begin later stop at once. A token that was tripped stays so. Other runs are not touched. Copies are one token. Thread
// safe.
class CancelToken {
 public:
  CancelToken() = default;                                        // no token, which is never tripped
  static CancelToken create() { return CancelToken(std::make_shared<std::atomic<bool>>(false)); }
  void cancel() const noexcept {
    if (tripped_) tripped_->store(true, std::memory_order_relaxed);
  }
  bool cancelled() const noexcept { return tripped_ && tripped_->load(std::memory_order_relaxed); }

 private:
  explicit CancelToken(std::shared_ptr<std::atomic<bool>> tripped) : tripped_(std::move(tripped)) {}
  std::shared_ptr<std::atomic<bool>> tripped_;
};

// The run reads its options where they are, so they must live until it returns. It interrupts no step, and no GPU that
// replays a whole run.
struct RunOptions {
  CancelToken token;   // if it is tripped before the run returns, the run returns Status::cancelled
  // If it has passed before a step begins, the run returns Status::deadline. A run whose last step has begun is not
  // affected.
  std::optional<std::chrono::steady_clock::time_point> deadline;
};

}  // namespace tenfold
