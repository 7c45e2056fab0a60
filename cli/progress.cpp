// The progress of a build: the bar's text, its line on the terminal, and the form for programs.
#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>

#include "flags/flags.h"

namespace tenfold::cli {
namespace {

using Clock = std::chrono::steady_clock;

// The one line of the terminal that the bar and the log share.
struct BarLine {
  std::mutex mutex;
  bool shown = false;
  Clock::time_point drawn;
} line;

// 0 where the terminal does not say: then what most have.
int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && std::string_view(kind ? kind : "") != "dumb";   // which could not take a line back
}

void erase_line() {
  if (line.shown) std::fputs("\r\033[K", stderr);
  line.shown = false;
}

void draw(const Progress& p) {
  constexpr std::chrono::milliseconds kPause{40};   // more than anybody reads
  const std::lock_guard lock(line.mutex);
  const Clock::time_point now = Clock::now();
  if (p.done >= p.total) {
    erase_line();
  } else if (!line.shown || now - line.drawn >= kPause) {
    std::fprintf(stderr, "\r\033[K%s", bar_text(p, terminal_columns() - 1).c_str());   // the last column may begin the next line
    line.shown = true, line.drawn = now;
  }
  std::fflush(stderr);
}

}  // namespace

std::string bar_text(const Progress& p, int columns) {
  constexpr int kMaxCells = 30, kMinCells = 4;
  const int total = std::max(p.total, 1), done = std::clamp(p.done, 0, total);
  const std::string phase(p.phase), counts = std::to_string(done) + "/" + std::to_string(total);
  const int cells = std::min(kMaxCells, columns - static_cast<int>(phase.size() + counts.size() + 4));
  if (cells >= kMinCells) {
    const auto filled = static_cast<std::size_t>(std::int64_t{cells} * done / total);
    return phase + " [" + std::string(filled, '#') + std::string(static_cast<std::size_t>(cells) - filled, '.') + "] " + counts;
  }
  for (const std::string& text : {phase + " " + counts, counts})   // whole, or not at all: 6/120 cut off reads 6/1
    if (static_cast<int>(text.size()) <= columns) return text;
  return "";
}

void clear_bar() {
  const std::lock_guard lock(line.mutex);
  erase_line();
}

std::function<bool(const Progress&)> progress_printer(const std::string& style) {
  if (style == "json") {
    return [](const Progress& p) {
      const nlohmann::ordered_json object{{"phase", std::string(p.phase)}, {"done", p.done}, {"total", p.total}};
      std::fprintf(stderr, "%s\n", object.dump().c_str());
      return true;
    };
  }
  if (style != "auto" && style != "none") throw UsageError("--progress is auto, none or json, not '" + style + "'");
  if (style == "none" || !is_terminal()) return {};
  return [](const Progress& p) {
    draw(p);
    return true;
  };
}

}  // namespace tenfold::cli
