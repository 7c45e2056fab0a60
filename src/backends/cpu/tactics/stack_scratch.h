// Scratch of one part of a kernel: on the worker's stack if it fits, which is warm and needs no workspace for every worker.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

class StackScratch {
 public:
  static constexpr std::int64_t kFits = 96 << 10;  // far below the smallest usual thread stack
  // Bytes of workspace to ask for in Tactic::workspace.
  static ir::Dim workspace(std::int64_t bytes) { return bytes <= kFits ? 0 : bytes * kMaxWorkers; }

  StackScratch(void* workspace, std::int64_t bytes, int worker) noexcept
      : memory_(bytes <= kFits ? static_cast<void*>(local_) : static_cast<char*>(workspace) + bytes * worker) {}
  StackScratch(const StackScratch&) = delete;
  void* get() noexcept { return memory_; }

 private:
  void* memory_;
  alignas(64) char local_[kFits];
};

}  // namespace tenfold::backends::cpu
