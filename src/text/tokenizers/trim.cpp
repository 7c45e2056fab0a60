#include "text/tokenizers/trim.h"

#include <algorithm>

#include "text/tokenizers/byte_level.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::tokenizing {
namespace {

bool is_space(char32_t c) { return c == kByteLetters[' '] || Unicode::tables().is(c, kSpace); }

template <class Text, class Scalar>
std::pair<std::size_t, std::size_t> spaces_of(const Text& text, Scalar&& scalar) {
  std::size_t before = 0, behind = 0;
  while (before < text.size() && is_space(scalar(text[before]))) ++before;
  while (behind < text.size() && is_space(scalar(text[text.size() - 1 - behind]))) ++behind;
  return {before, behind};
}

}  // namespace

Trimmer::Trimmer(std::vector<Trim> trims, const std::unordered_map<std::int32_t, std::string>& tokens) : trims_(std::move(trims)) {
  if (trims_.empty()) return;
  for (const auto& [id, token] : tokens) {
    const auto [before, behind] = spaces_of(scalars(token), [](char32_t c) { return c; });
    if (before + behind > 0) spaces_[id] = {static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(behind)};
  }
}

void Trimmer::count_spaces(Word text, Token& token) {
  const auto [before, behind] = spaces_of(text, [](const Char& one) { return one.c; });
  token.spaces_before = static_cast<std::uint16_t>(std::min<std::size_t>(before, Token::kSpacesOfId - 1));
  token.spaces_after = static_cast<std::uint16_t>(std::min<std::size_t>(behind, Token::kSpacesOfId - 1));
}

void Trimmer::run(std::vector<Token>& tokens) const {
  for (const Trim& trim : trims_) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      Token& one = tokens[i];
      Spaces spaces{one.spaces_before, one.spaces_after};
      if (one.spaces_before == Token::kSpacesOfId) {
        const auto known = spaces_.find(one.id);
        if (known == spaces_.end()) continue;
        spaces = known->second;
      }
      const bool is_first = (i == 0 && !trim.first_is_special) || one.begin == 0;
      if (is_first && trim.space_was_added && spaces.before == 1) spaces.before = 0;
      one.begin = std::min(one.begin + spaces.before, one.end);
      if (one.end >= spaces.behind) one.end = std::max(one.end - spaces.behind, one.begin);
    }
  }
}

}  // namespace tenfold::tokenizing
