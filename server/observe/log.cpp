#include "observe/log.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>

#include "observe/json_string.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

enum class Level : std::uint8_t { error, warning, info, verbose };

// Of the process. It is never destroyed, for threads may log until the end.
struct Log {
  std::mutex mutex;
  LogSettings settings;
  int file = STDERR_FILENO;
  std::atomic<int> verbose = 0;
};
Log& the_log() {
  static Log& log = *new Log;
  return log;
}

bool is_on(const LogSettings& settings, Level level) {
  switch (level) {
    case Level::error: return settings.error;
    case Level::warning: return settings.warning;
    case Level::info: return settings.info;
    default: return true;  // its level was asked for
  }
}

std::string time_text(const char* form, const std::tm& at, long microseconds, const char* end) {
  char text[64], fraction[16];
  std::strftime(text, sizeof text, form, &at);
  std::snprintf(fraction, sizeof fraction, ".%06ld", microseconds);
  return std::string(text) + (microseconds < 0 ? "" : fraction) + end;
}

// What stands in front of the text, up to "] ".
std::string head(LogFormat format, Level level, const Source& source) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm at{};
  ::gmtime_r(&now.tv_sec, &at);
  const char letter = "EWII"[static_cast<std::size_t>(level)];
  const char* slash = std::strrchr(source.file, '/');
  const std::string where =
      std::to_string(::getpid()) + " " + (slash ? slash + 1 : source.file) + ":" + std::to_string(source.line);
  if (format == LogFormat::triton) return letter + time_text("%m%d %H:%M:%S", at, now.tv_nsec / 1000, " ") + where + "] ";
  return time_text("%Y-%m-%dT%H:%M:%S", at, -1, "Z ") + letter + " " + where + "] ";
}

std::string json_line(Level level, std::string_view text, const Source& source) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm at{};
  ::gmtime_r(&now.tv_sec, &at);
  constexpr const char* kNames[] = {"error", "warning", "info", "verbose"};
  const char* slash = std::strrchr(source.file, '/');
  return "{\"time\":\"" + time_text("%Y-%m-%dT%H:%M:%S", at, now.tv_nsec / 1000, "Z") + "\",\"level\":\"" +
         kNames[static_cast<std::size_t>(level)] + "\",\"pid\":" + std::to_string(::getpid()) + ",\"file\":\"" +
         (slash ? slash + 1 : source.file) + "\",\"line\":" + std::to_string(source.line) + ",\"message\":" + json_string(text) +
         "}\n";
}

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // a full disk: the server goes on
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write(Level level, std::string_view text, bool table, const Source& source) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  if (!is_on(log.settings, level)) return;
  const LogFormat format = log.settings.format;
  std::string line;
  if (format == LogFormat::json)
    line = json_line(level, text, source);
  else if (table)
    ((line = head(format, level, source)) += '\n').append(text);
  else
    append_string(line = head(format, level, source), text), line += '\n';
  write_all(log.file, line);
}

}  // namespace

std::string_view name(LogFormat format) {
  return format == LogFormat::triton ? "default" : format == LogFormat::iso8601 ? "ISO8601" : "json";
}
LogFormat log_format(std::string_view text) {
  for (const LogFormat format : {LogFormat::triton, LogFormat::iso8601, LogFormat::json})
    if (name(format) == text) return format;
  throw Error(ErrorKind::invalid_argument, "the format of logs is default, ISO8601 or json, not '" + std::string(text) + "'");
}

void log_error(std::string_view text, const Source& source) { write(Level::error, text, false, source); }
void log_warning(std::string_view text, const Source& source) { write(Level::warning, text, false, source); }
void log_info(std::string_view text, const Source& source) { write(Level::info, text, false, source); }
void log_table(std::string_view lines, const Source& source) { write(Level::info, lines, true, source); }
bool logs_verbose(int level) noexcept { return the_log().verbose >= level; }
void log_verbose(int level, std::string_view text, const Source& source) {
  if (logs_verbose(level)) write(Level::verbose, text, false, source);
}

LogSettings log_settings() {
  const std::lock_guard lock(the_log().mutex);
  return the_log().settings;
}

void set_log_settings(LogSettings settings) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  int file = log.file;
  if (settings.file != log.settings.file) {
    file = settings.file.empty() ? STDERR_FILENO : ::open(settings.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const int failed = errno;
    if (file < 0) throw Error(ErrorKind::io, "the log file " + settings.file + " cannot be opened: " + std::strerror(failed));
    if (log.file != STDERR_FILENO) ::close(log.file);
  }
  log.file = file;
  log.verbose = settings.verbose;
  log.settings = std::move(settings);
}

}  // namespace tenfold::server
