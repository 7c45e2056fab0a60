// require_system: a call of the system that failed, with the system's reason behind the words.
#pragma once

#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace tenfold {

// It reads errno itself: arguments are evaluated in any order, so one that holds errno's text may be older than the call in the condition.
template <class... Args>
void require_system(bool done, ErrorKind kind, const Args&... args) {
  if (done) [[likely]] return;
  const int error = errno;
  fail(kind, error == 0 ? cat(args...) : cat(args..., ": ", std::strerror(error)));
}

}  // namespace tenfold
