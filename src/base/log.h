// Messages of the library: it never prints, it calls the user's callback.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/check.h"

namespace tenfold {

enum class Severity : std::uint8_t { verbose, info, warning, error };
std::string_view name(Severity severity);

using LogCallback = std::function<void(Severity, std::string_view)>;

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
