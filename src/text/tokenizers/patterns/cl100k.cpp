#include "text/tokenizers/patterns/scanner.h"

namespace tenfold::tokenizing {
namespace {

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
std::size_t next(const Scan& text, std::size_t at, std::size_t digits) {
  if (const std::size_t end = text.contraction(at, true); end > at) return end;
  if (text.is(at, kLetter)) return text.run(at, kLetter);
  if (text.is(at, kNumber)) return text.run(at, kNumber, digits);
  if (!text.is_line_end(at) && text.is(at + 1, kLetter)) return text.run(at + 1, kLetter);
  if (const std::size_t word = at + (text[at] == ' '); text.is_other(word)) {
    std::size_t end = text.run_of_others(word);
    while (text.is_line_end(end)) ++end;
    return end;
  }
  const std::size_t lines = text.lines(at);
  return lines > at ? lines : text.spaces(at);
}

}  // namespace

std::size_t next_of_cl100k(const Scan& text, std::size_t at) { return next(text, at, 3); }
std::size_t next_of_qwen2(const Scan& text, std::size_t at) { return next(text, at, 1); }

}  // namespace tenfold::tokenizing
