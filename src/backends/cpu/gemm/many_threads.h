// Whether this process may use so many threads that cuts into eight parts leave some idle: only then are finer ones worth timing.
#pragma once

#include "base/cpu_count.h"

namespace tenfold::backends::cpu {

inline bool many_threads() {
  static const bool many = default_threads() > 8;
  return many;
}

}  // namespace tenfold::backends::cpu
