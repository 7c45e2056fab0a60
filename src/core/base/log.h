// Log: how the library's parts send messages to the user's callback.
#pragma once

#include <string_view>

#include "base/check.h"
#include "tenfold/log.h"

namespace tenfold {

std::string_view name(Severity severity);

// Passes messages of at least `min_severity` on, joined from their pieces: log(Severity::info, "built ", n, " steps").
// Silent without a callback.
class Log {
 public:
  Log() = default;
  explicit Log(LogCallback callback, Severity min_severity = Severity::info)
      : callback_(std::move(callback)), min_severity_(min_severity) {}
  bool enabled(Severity severity) const { return callback_ && severity >= min_severity_; }
  template <class... Args>
  void operator()(Severity severity, const Args&... args) const {
    if (enabled(severity)) callback_(severity, cat(args...));
  }

 private:
  LogCallback callback_;
  Severity min_severity_ = Severity::info;
};

}  // namespace tenfold
