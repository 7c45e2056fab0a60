// What the server writes for those who run it: lines on stderr or in a file. Never what requests or answers hold, and no keys.
//
//   log_info("the model 'mlp' is ready");                       // I1129 16:01:02.123456 123 models.cpp:57] "the model 'mlp' is ready"
//   if (logs_verbose(1)) log_verbose(1, describe(request));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenfold::server {

enum class LogFormat : std::uint8_t { triton, iso8601, json };
struct LogSettings {
  bool info = true, warning = true, error = true;
  int verbose = 0;  // lines of this level and below are written; 0: none
  LogFormat format = LogFormat::triton;
  std::string file;  // empty: stderr
};
// As flags name them: "default", "ISO8601", "json".
std::string_view name(LogFormat format);
LogFormat log_format(std::string_view name);  // throws Error(invalid_argument)

// Thread safe, all of them. A line is written at once and whole.
struct Source {                                  // clang 14 has no std::source_location
  const char* file;
  unsigned line;
  static constexpr Source current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) { return {file, line}; }
};
void log_error(std::string_view text, const Source& source = Source::current());
void log_warning(std::string_view text, const Source& source = Source::current());
void log_info(std::string_view text, const Source& source = Source::current());
// A table: its lines follow as they are.
void log_table(std::string_view lines, const Source& source = Source::current());
bool logs_verbose(int level) noexcept;
void log_verbose(int level, std::string_view text, const Source& source = Source::current());

LogSettings log_settings();
void set_log_settings(LogSettings settings);  // throws Error(io) for a file that cannot be opened, and leaves all as it was

}  // namespace tenfold::server
