// UTF-8 by RFC 3629, beside its own table of well-formed sequences.
#include "base/types/utf8.h"

#include <gtest/gtest.h>

namespace tenfold {
namespace {

// RFC 3629, section 4: the ranges of a character's bytes.
bool well_formed(const std::string& s) {
  struct Row { int first[2], second[2]; std::size_t size; };
  static constexpr Row kRows[] = {{{0x00, 0x7f}, {0, 0xff}, 1},    {{0xc2, 0xdf}, {0x80, 0xbf}, 2}, {{0xe0, 0xe0}, {0xa0, 0xbf}, 3},
                                  {{0xe1, 0xec}, {0x80, 0xbf}, 3}, {{0xed, 0xed}, {0x80, 0x9f}, 3}, {{0xee, 0xef}, {0x80, 0xbf}, 3},
                                  {{0xf0, 0xf0}, {0x90, 0xbf}, 4}, {{0xf1, 0xf3}, {0x80, 0xbf}, 4}, {{0xf4, 0xf4}, {0x80, 0x8f}, 4}};
  for (std::size_t at = 0; at < s.size();) {
    const auto byte = [&](std::size_t i) { return at + i < s.size() ? static_cast<unsigned char>(s[at + i]) : -1; };
    const Row* row = nullptr;
    for (const Row& r : kRows)
      if (byte(0) >= r.first[0] && byte(0) <= r.first[1]) row = &r;
    if (!row) return false;
    for (std::size_t i = 1; i < row->size; ++i)
      if (byte(i) < (i == 1 ? row->second[0] : 0x80) || byte(i) > (i == 1 ? row->second[1] : 0xbf)) return false;
    at += row->size;
  }
  return true;
}

TEST(Utf8, IsThatOfTheStandard) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b)
      for (const char* end : {"", "\x80", "\x80\x80", "\xbf\xbf", "x"}) {
        const std::string text = std::string{static_cast<char>(a), static_cast<char>(b)} + end;
        EXPECT_EQ(is_utf8(text), well_formed(text)) << readable(text);
      }
}

TEST(Utf8, OthersAreWrittenOut) {
  EXPECT_EQ(readable("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(readable("caf\xe9\n"), "caf\\xe9\n");
  EXPECT_TRUE(is_utf8(readable("\xff\xfe\x80")));
}

}  // namespace
}  // namespace tenfold
