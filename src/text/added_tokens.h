// Tokens that were added to a vocabulary: they are looked for in the text itself, before its words are.
#pragma once

#include <bitset>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/models/model.h"
#include "text/models/trie.h"
#include "text/normalize/normalizer.h"

namespace tenfold::tokenizing {

struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool special = false, single_word = false, strips_left = false, strips_right = false, normalized = false;
};

// A piece of a text: a token of these, or what stands between two.
struct Part {
  Word text;
  std::int32_t id = -1;   // -1: no token
};

class AddedTokens {
 public:
  // Of the list "added_tokens", which may be missing. Those that are looked for in normalised text are normalised themselves.
  AddedTokens(const Json& file, const Normalizer* normalizer, const Vocabulary& vocabulary);

  const std::vector<AddedToken>& all() const { return all_; }
  bool is_special(std::int32_t id) const;
  const std::string* normalised(std::int32_t id) const;   // how it is looked for in normalised text; null: as it is written
  // The leftmost, longest ones: of text as it was given, or as it is normalised.
  void find(Word text, bool normalized, std::vector<Part>& parts) const;

 private:
  struct Match { const AddedToken* token; std::size_t length; };
  Match longest(Word text, const Trie& trie) const;

  std::vector<AddedToken> all_;
  Trie given_, normalised_;         // their values are places in all_
  std::bitset<256> given_starts_, normalised_starts_;   // by the last byte of what a token begins with: most characters begin none
  std::vector<std::int32_t> special_;   // sorted
  std::unordered_map<std::int32_t, std::string> changed_;   // by normalisation
};

}  // namespace tenfold::tokenizing
