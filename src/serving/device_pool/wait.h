// Waiting for other threads, and asking meanwhile whether to go on (tenfold/internal/interrupts.h).
#pragma once

#include <chrono>
#include <mutex>

#include "tenfold/internal/interrupts.h"

namespace tenfold::serving {

inline constexpr auto kBetweenQuestions = std::chrono::milliseconds(50);

// Throws Error(cancelled). Who has the mutex may be building an engine.
inline std::unique_lock<std::timed_mutex> lock_or_end(std::timed_mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock_for(kBetweenQuestions)) throw_if_cancelled();
  return lock;
}

}  // namespace tenfold::serving
