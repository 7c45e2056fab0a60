// Log lines.
#include "console.h"

#include <cstdio>
#include <ctime>

#include "flags/flag_words.h"
#include "progress.h"

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
  if (quiet || (severity == Severity::verbose && !verbose) || (severity == Severity::info && !show_info)) return;
  if (!hidden.empty() && text.find(hidden) != std::string::npos) return;
  clear_bar();
  std::fprintf(stderr, "%s%s\n", prefix(severity).c_str(), printable(in_flags(text)).c_str());
}

void Console::result(const std::string& text) const {
  clear_bar();
  std::printf("%s%s\n", prefix(Severity::info).c_str(), text.c_str());
}

LogCallback Console::callback() const {
  return [copy = *this](Severity severity, std::string_view text) { copy.log(severity, std::string(text)); };
}

}  // namespace tenfold::cli
