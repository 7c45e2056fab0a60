// What the program says while it works: trtexec's log lines and the progress of a build. Logs on stderr, results on stdout.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tenfold/build.h"
#include "tenfold/log.h"

namespace tenfold::cli {

// Names inside messages come from files: what would steer a terminal is written as \x1b.
std::string printable(std::string_view text);

class Console {
 public:
  bool verbose = false;
  bool show_info = true;

  void log(Severity severity, const std::string& text) const;  // stderr, "[MM/DD/YYYY-HH:MM:SS] [I] text"
  void info(const std::string& text) const { log(Severity::info, text); }
  void warn(const std::string& text) const { log(Severity::warning, text); }
  void result(const std::string& text) const;  // stdout, the same prefix
  LogCallback callback() const;
};

// `style` is auto (a bar if stderr is a terminal), none or json (one object a line on stderr).
std::function<bool(const Progress&)> progress_printer(const std::string& style);

}  // namespace tenfold::cli
