// A text on its way through the components: scalars, each with its place in the caller's text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::tokenizing {

struct Char {
  char32_t c = 0;
  std::uint32_t begin = 0, end = 0;   // in characters of the caller's text
};
using Chars = std::vector<Char>;

// Appends the text's scalars. Throws invalid_argument for what is no UTF-8.
void decode_utf8(std::string_view text, Chars& chars);
void append_utf8(char32_t c, std::string& text);
std::string utf8(std::span<const Char> chars);
std::u32string scalars(std::string_view utf8);   // throws as decode_utf8()

}  // namespace tenfold::tokenizing
