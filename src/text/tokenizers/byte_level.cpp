#include "text/tokenizers/byte_level.h"

namespace tenfold::tokenizing {
namespace {

constexpr bool is_seen(unsigned byte) { return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae; }

constexpr std::array<char32_t, 256> letters() {
  std::array<char32_t, 256> all{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) all[byte] = is_seen(byte) ? char32_t{byte} : next++;
  return all;
}

constexpr std::array<std::int16_t, kMaxByteLetter + 1> bytes() {
  std::array<std::int16_t, kMaxByteLetter + 1> all{};
  for (std::int16_t& one : all) one = -1;
  const std::array<char32_t, 256> given = letters();
  for (unsigned byte = 0; byte < 256; ++byte) all[given[byte]] = static_cast<std::int16_t>(byte);
  return all;
}

constexpr std::array<std::int16_t, kMaxByteLetter + 1> kBytes = bytes();

}  // namespace

constexpr std::array<char32_t, 256> kByteLetters = letters();

int byte_of(char32_t letter) { return letter <= kMaxByteLetter ? kBytes[letter] : -1; }

std::size_t utf8_length(std::span<const Char> chars) {
  std::size_t length = chars.size();
  for (const Char& one : chars) length += std::size_t{one.c >= 0x80} + (one.c >= 0x800) + (one.c >= 0x10000);
  return length;
}

void write_byte_letters(std::span<const Char> chars, Char* out) {
  const auto put = [&](const Char& one, char32_t byte) { *out++ = {kByteLetters[byte], one.begin, one.end}; };
  for (const Char& one : chars) {
    const char32_t c = one.c;
    if (c < 0x80) {
      put(one, c);
      continue;
    }
    if (c < 0x800) put(one, 0xc0 | c >> 6);
    else if (c < 0x10000) put(one, 0xe0 | c >> 12), put(one, 0x80 | (c >> 6 & 0x3f));
    else put(one, 0xf0 | c >> 18), put(one, 0x80 | (c >> 12 & 0x3f)), put(one, 0x80 | (c >> 6 & 0x3f));
    put(one, 0x80 | (c & 0x3f));
  }
}

}  // namespace tenfold::tokenizing
