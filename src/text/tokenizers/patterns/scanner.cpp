#include "text/tokenizers/patterns/scanner.h"

namespace tenfold::tokenizing {
namespace {

struct Known { std::string_view regex; NextMatch next; };
constexpr Known kKnown[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", next_of_gpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", next_of_gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     next_of_cl100k},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)", next_of_qwen2},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     next_of_o200k},
};

// As the reference folds it: U+017F is an s, too.
char32_t folded(char32_t c, bool any_case) {
  if (!any_case) return c;
  return c == 0x17f ? U's' : c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

}  // namespace

std::size_t Scan::contraction(std::size_t at, bool any_case) const {
  if ((*this)[at] != '\'') return at;
  const char32_t first = folded((*this)[at + 1], any_case), second = folded((*this)[at + 2], any_case);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
  const bool is_long = (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
  return is_long ? at + 3 : at;
}

std::unique_ptr<Pattern> make_scanner(std::string_view regex) {
  for (const Known& one : kKnown)
    if (regex == one.regex) return std::make_unique<Scanner<NextMatch>>(one.next);
  return nullptr;
}

std::unique_ptr<Pattern> make_gpt2() { return make_scanner(kKnown[0].regex); }

}  // namespace tenfold::tokenizing
