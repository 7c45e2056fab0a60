// Words in the case of o200k: any capitals, then small letters. Letters without case and marks are both.
#include "text/tokenizers/patterns/scanner.h"

namespace tenfold::tokenizing {
namespace {

constexpr std::uint32_t kBoth = bit(Category::Lm) | bit(Category::Lo) | kAnyMark;
constexpr std::uint32_t kCapital = bit(Category::Lu) | bit(Category::Lt) | kBoth;
constexpr std::uint32_t kSmall = bit(Category::Ll) | kBoth;

// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+ from `at`; `at` itself: there is none.
std::size_t small_word(const Scan& text, std::size_t at) {
  const std::size_t capitals = text.run(at, kCapital);
  if (text.is(capitals, kSmall)) return text.run(capitals, kSmall);
  // Capitals are given back until one is small as well: behind it there is a capital or nothing that is a letter.
  std::size_t end = capitals;
  while (end > at && !text.is(end - 1, kBoth)) --end;
  return end;
}

// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]* from `at`; `at` itself: there is none.
std::size_t capital_word(const Scan& text, std::size_t at) {
  const std::size_t capitals = text.run(at, kCapital);
  return capitals == at ? at : text.run(capitals, kSmall);
}

// A word, with one character before it that is neither letter nor number nor the end of a line, where there is one.
std::size_t word(const Scan& text, std::size_t at) {
  const bool may_precede = !text.is(at, kLetter | kNumber) && !text.is_line_end(at);
  for (const auto of : {small_word, capital_word}) {
    if (may_precede && at + 1 < text.size())
      if (const std::size_t end = of(text, at + 1); end > at + 1) return end;
    if (const std::size_t end = of(text, at); end > at) return end;
  }
  return at;
}

}  // namespace

std::size_t next_of_o200k(const Scan& text, std::size_t at) {
  if (const std::size_t end = word(text, at); end > at) return text.contraction(end, true);
  if (text.is(at, kNumber)) return text.run(at, kNumber, 3);
  if (const std::size_t other = at + (text[at] == ' '); text.is_other(other)) {
    std::size_t end = text.run_of_others(other);
    while (text.is_line_end(end) || text[end] == '/') ++end;
    return end;
  }
  const std::size_t lines = text.lines(at);
  return lines > at ? lines : text.spaces(at);
}

}  // namespace tenfold::tokenizing
