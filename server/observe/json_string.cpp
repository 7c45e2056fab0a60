#include "observe/json_string.h"

#include <simdjson.h>

namespace tenfold::server {
namespace {

// The length of the well-formed sequence that begins here; 0: there is none.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return length <= text.size() && simdjson::validate_utf8(text.data(), length) ? length : 0;
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char c = text[0];
    std::size_t length = 1;
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      (out += c < 0x10 ? "\\u000" : "\\u001") += kDigits[c & 15];
    } else if (length = sequence_length(text); length > 0) {
      out.append(text.substr(0, length));
    } else {
      out += "\\ufffd", length = 1;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

}  // namespace tenfold::server
