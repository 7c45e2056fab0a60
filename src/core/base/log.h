// Log: how the library's parts send messages to the user's callback.
#pragma once

#include <string_view>

#include "base/check.h"
#include "tenfold/log.h"

namespace tenfold {

std::string_view name(Severity severity);

// Passes messages of at least `least` on, joined from their pieces: log(Severity::info, "built ", n, " steps"). Silent without a callback.
class Log {
 public:
  Log() = default;
  explicit Log(LogCallback callback, Severity least = Severity::info) : callback_(std::move(callback)), least_(least) {}
  bool wants(Severity severity) const { return callback_ && severity >= least_; }
  template <class... Args>
  void operator()(Severity severity, const Args&... args) const {
    if (wants(severity)) callback_(severity, cat(args...));
  }

 private:
  LogCallback callback_;
  Severity least_ = Severity::info;
};

}  // namespace tenfold
