// An engine of --pattern-engine: windows of fixed size, one at a time, answered in the thread that asks. No queue, no batches.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tenfold/low_latency.h"

namespace tenfold::server {

struct WindowAnswer {
  std::vector<std::byte> output;                 // elements of output()
  std::string fallback;                          // the name of a candidate that is not the first; empty: the first answered
};

// Thread safe.
class PatternEngine {
 public:
  explicit PatternEngine(std::vector<EngineCandidate> candidates) : candidates_(std::move(candidates)) {}
  // Opens, compares and warms up the candidates. Once. Throws Error, also for a model that has not one numeric input.
  void open();
  bool ready(std::string* why = nullptr) const;
  const BindingInfo& input() const { return *input_; }     // once it is ready
  const BindingInfo& output() const { return *output_; }   // the first one
  const LatencyRunner& runner() const { return *runner_; }
  // `window` has the bytes of input(). Throws RequestError.
  WindowAnswer infer(std::span<const std::byte> window);

 private:
  std::vector<EngineCandidate> candidates_;
  std::unique_ptr<LatencyRunner> runner_;
  const BindingInfo *input_ = nullptr, *output_ = nullptr;
  std::int64_t output_offset_ = 0;
  std::atomic<bool> open_ = false;
  std::mutex mutex_;                             // of infer() and the memory that it uses
  std::vector<std::byte> in_, out_;
};

}  // namespace tenfold::server
