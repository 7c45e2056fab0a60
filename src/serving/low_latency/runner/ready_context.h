// ReadyContext: a context that runs on messages, and computes what it can before the newest row of a window is there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "low_latency/runner/past_rows.h"

namespace tenfold::low_latency {

// A context with memory of its own for all bindings, ready to run.
class ReadyContext {
 public:
  ReadyContext(const Engine& engine, const MessageLayout& layout);   // throws Error
  // Computes only the rest where the rows before the newest are those that were computed early.
  Status run(const std::byte* input, std::byte* output, const RunOptions* options) noexcept;
  std::string describe(Status status) const { return context_->describe(status); }

  // The rest is for engines with early steps.
  bool has_precomputed() const noexcept { return static_cast<bool>(past_); }
  Status precompute(const std::byte* window) noexcept;   // whose newest row is not read
  Status precompute_next() noexcept;                  // the last run's window, moved up by one row
  Status precompute_again() noexcept;                    // where is_early()
  bool can_move() const noexcept { return past_.can_move(); }
  bool is_early() const noexcept { return early_; }     // the next run may need only the rest
  bool was_whole() const noexcept { return whole_; }    // of the last run
  // Whether this window follows on the one in memory; before run().
  bool follows(const std::byte* window) const noexcept { return past_.follows(window); }

 private:
  struct Copy {
    std::byte* memory;
    std::int64_t offset, bytes;
  };
  std::unique_ptr<ExecutionContext> context_;
  std::vector<Copy> inputs_, outputs_;   // of the inputs those without rows
  PastRows past_;
  bool early_ = false, whole_ = false;
};

}  // namespace tenfold::low_latency
