// Whether this process may use so many threads that blockings of a few parts leave some idle, or waiting for one that others disturb: only
// then are finer ones worth timing.
#pragma once

#include "base/threads/cpu_count.h"

namespace tenfold::backends::cpu {

inline bool many_threads() {
  static const bool many = default_threads() > 2;
  return many;
}

}  // namespace tenfold::backends::cpu
