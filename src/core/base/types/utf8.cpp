#include "base/types/utf8.h"

#include <cstddef>
#include <cstdint>

namespace tenfold {
namespace {

// The bytes of the character at `at`; 0: none begins there.
std::size_t length_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) -> std::uint32_t { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const std::uint32_t two = first << 8 | byte(1);
  if (size == 3 && (two < 0xe0a0 || (two >= 0xeda0 && two < 0xee00))) return 0;   // overlong; surrogates
  if (size == 4 && (two < 0xf090 || two >= 0xf490)) return 0;                     // overlong; beyond U+10FFFF
  return size;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0, size = 0; at < text.size(); at += size)
    if ((size = length_at(text, at)) == 0) return false;
  return true;
}

std::string readable(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) out += c;
    else (((out += "\\x") += kDigits[byte >> 4])) += kDigits[byte & 15];
  }
  return out;
}

}  // namespace tenfold
