// Log lines and progress.
#include "console.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "flags.h"

namespace tenfold::cli {
namespace {

std::string prefix(Severity severity) {
  static constexpr char kLetters[] = {'V', 'I', 'W', 'E'};
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[64];
  const std::size_t length = std::strftime(text, sizeof text, "[%m/%d/%Y-%H:%M:%S] [", &local);
  return std::string(text, length) + kLetters[static_cast<int>(severity)] + "] ";
}

void draw_bar(const Progress& p) {
  constexpr int kCells = 30;
  const int filled = p.total > 0 ? kCells * p.done / p.total : 0;
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(kCells - filled), '.');
  std::fprintf(stderr, "\r\033[K%.*s [%s] %d/%d", static_cast<int>(p.phase.size()), p.phase.data(), bar.c_str(), p.done, p.total);
  if (p.done >= p.total) std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if ((code >= ' ' && code != 0x7F) || c == '\n' || c == '\t') {
      out += c;
    } else {
      static constexpr char kDigits[] = "0123456789abcdef";
      out += "\\x", out += kDigits[code >> 4], out += kDigits[code & 15];
    }
  }
  return out;
}

void Console::log(Severity severity, const std::string& text) const {
  if ((severity == Severity::verbose && !verbose) || (severity == Severity::info && !show_info)) return;
  std::fprintf(stderr, "%s%s\n", prefix(severity).c_str(), printable(text).c_str());
}

void Console::result(const std::string& text) const { std::printf("%s%s\n", prefix(Severity::info).c_str(), text.c_str()); }

LogCallback Console::callback() const {
  return [copy = *this](Severity severity, std::string_view text) { copy.log(severity, std::string(text)); };
}

std::function<bool(const Progress&)> progress_printer(const std::string& style) {
  if (style == "json") {
    return [](const Progress& p) {
      const nlohmann::ordered_json line{{"phase", std::string(p.phase)}, {"done", p.done}, {"total", p.total}};
      std::fprintf(stderr, "%s\n", line.dump().c_str());
      return true;
    };
  }
  if (style != "auto" && style != "none") throw UsageError("--progress is auto, none or json, not '" + style + "'");
  if (style == "none" || !isatty(STDERR_FILENO)) return {};
  return [](const Progress& p) {
    draw_bar(p);
    return true;
  };
}

}  // namespace tenfold::cli
