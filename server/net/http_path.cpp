#include "net/http_path.h"

namespace tenfold::server {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::optional<std::vector<std::string>> path_parts(std::string_view target, std::string* why) {
  const auto refuse = [&](const char* words) -> std::optional<std::vector<std::string>> {
    if (why) *why = words;
    return std::nullopt;
  };
  target = target.substr(0, target.find('?'));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == '/') {
      parts.emplace_back();
    } else if (parts.empty()) {
      return refuse("the target of the request is no path: it must begin with '/'");
    } else if (target[i] != '%') {
      parts.back() += target[i];
    } else {
      const int high = i + 2 < target.size() ? hex_digit(target[i + 1]) : -1, low = high >= 0 ? hex_digit(target[i + 2]) : -1;
      if (low < 0) return refuse("the path has a '%' without two hexadecimal digits behind it");
      parts.back() += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (!parts.empty() && parts.back().empty()) parts.pop_back();
  return parts;
}

}  // namespace tenfold::server
