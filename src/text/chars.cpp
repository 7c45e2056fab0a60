#include "text/chars.h"

#include "text/fail.h"

namespace tenfold::tokenizing {
namespace {

// The bytes that follow a first byte, and the least scalar that needs them; -1: no first byte.
struct Lead { int more; char32_t bits, min; };
Lead lead_of(unsigned char byte) {
  if (byte < 0xc0) return {-1, 0, 0};
  if (byte < 0xe0) return {1, static_cast<char32_t>(byte & 0x1f), 0x80};
  if (byte < 0xf0) return {2, static_cast<char32_t>(byte & 0x0f), 0x800};
  if (byte < 0xf8) return {3, static_cast<char32_t>(byte & 0x07), 0x10000};
  return {-1, 0, 0};
}

// The scalar at `at`, which moves behind it.
char32_t next(std::string_view text, std::size_t& at) {
  const std::size_t start = at;
  const Lead lead = lead_of(static_cast<unsigned char>(text[at++]));
  char32_t c = lead.bits;
  bool is_right = lead.more > 0;
  for (int i = 0; is_right && i < lead.more; ++i) {
    is_right = at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
    if (is_right) c = c << 6 | (static_cast<unsigned char>(text[at++]) & 0x3f);
  }
  is_right = is_right && c >= lead.min && c < 0x110000 && (c < 0xd800 || c >= 0xe000);
  if (!is_right) fail(ErrorKind::invalid_argument, "the text is no UTF-8 at byte " + std::to_string(start));
  return c;
}

}  // namespace

void decode_utf8(std::string_view text, Chars& chars) {
  chars.reserve(chars.size() + text.size());
  std::uint32_t place = 0;
  for (std::size_t at = 0; at < text.size(); ++place) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const char32_t c = byte < 0x80 ? (++at, byte) : next(text, at);
    chars.push_back({c, place, place + 1});
  }
}

void append_utf8(char32_t c, std::string& text) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  if (c < 0x10000) return put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
}

std::string utf8(std::span<const Char> chars) {
  std::string text;
  for (const Char& one : chars) append_utf8(one.c, text);
  return text;
}

std::u32string scalars(std::string_view utf8) {
  Chars chars;
  decode_utf8(utf8, chars);
  std::u32string text;
  for (const Char& one : chars) text.push_back(one.c);
  return text;
}

}  // namespace tenfold::tokenizing
