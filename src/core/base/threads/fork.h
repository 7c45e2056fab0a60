// Forks of this process, counted: what threads there were exists only in the parent.
#pragma once

#include <atomic>
#include <cstdint>

namespace tenfold {

void count_forks() noexcept;   // from now on
inline std::atomic<std::uint32_t> forks_counted{1};
// From 1; another number than before: this process is a child of the one that asked then.
inline std::uint32_t fork_generation() noexcept { return forks_counted.load(std::memory_order_relaxed); }

}  // namespace tenfold
