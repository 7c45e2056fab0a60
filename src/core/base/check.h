// require: the caller's mistakes. check: ours. Both throw Error; the library never aborts.
#pragma once

#include <sstream>

#include "tenfold/error.h"

namespace tenfold {

// Joins its arguments into one string: cat("pads has ", n, " values").
template <class... Args>
std::string cat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

[[noreturn]] inline void fail(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

template <class... Args>
void require(bool condition, ErrorKind kind, const Args&... args) {
  if (!condition) [[unlikely]] fail(kind, cat(args...));
}
template <class... Args>
void check(bool condition, const Args&... args) {
  if (!condition) [[unlikely]] fail(ErrorKind::internal, cat(args...));
}

}  // namespace tenfold
