// What the program says while it works, in trtexec's log lines: logs on stderr, results on stdout.
#pragma once

#include <string>
#include <string_view>

#include "tenfold/log.h"

namespace tenfold::cli {

// Names inside messages come from files: what would steer a terminal is written as \x1b.
std::string printable(std::string_view text);

class Console {
 public:
  bool verbose = false;
  bool show_info = true;
  bool quiet = false;   // nothing is logged
  std::string hidden;   // what is logged with this in it is not shown; empty: all is

  void log(Severity severity, const std::string& text) const;  // stderr, "[MM/DD/YYYY-HH:MM:SS] [I] text"
  void info(const std::string& text) const { log(Severity::info, text); }
  void warn(const std::string& text) const { log(Severity::warning, text); }
  void result(const std::string& text) const;  // stdout, the same prefix
  LogCallback callback() const;
};

}  // namespace tenfold::cli
