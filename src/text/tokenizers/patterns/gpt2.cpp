#include "text/tokenizers/patterns/scanner.h"

namespace tenfold::tokenizing {

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t next_of_gpt2(const Scan& text, std::size_t at) {
  if (const std::size_t end = text.contraction(at, false); end > at) return end;
  const std::size_t word = at + (text[at] == ' ');
  if (text.is(word, kLetter)) return text.run(word, kLetter);
  if (text.is(word, kNumber)) return text.run(word, kNumber);
  if (text.is_other(word)) return text.run_of_others(word);
  return text.spaces(at);
}

}  // namespace tenfold::tokenizing
