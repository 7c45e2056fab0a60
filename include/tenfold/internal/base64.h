// Bytes as letters (RFC 4648, section 4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenfold {

inline constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c), count += 8;
    for (; count >= 6; count -= 6) text += kBase64Digits[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kBase64Digits[bits << (6 - count) & 63];
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

constexpr int base64_digit(char c) {   // -1: none
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Up to the first '='. Nothing if a letter is no digit.
inline std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit), count += 6;
    if (count >= 8) count -= 8, bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

}  // namespace tenfold
