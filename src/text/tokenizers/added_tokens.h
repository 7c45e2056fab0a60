// Tokens that were added to a vocabulary: they are looked for in the text itself, before its words are.
#pragma once

#include <bitset>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/tokenizers/models/model.h"
#include "text/tokenizers/models/trie.h"
#include "text/tokenizers/normalize/normalizer.h"

namespace tenfold::tokenizing {

struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool special = false, single_word = false, strips_left = false, strips_right = false, normalized = false;
};

// A span of a text: an added token, or the text between two.
struct TextSpan {
  Word text;
  std::int32_t id = -1;   // -1: no token
};

class AddedTokens {
 public:
  // Of the list "added_tokens", which may be missing. Those that are looked for in normalized text are normalized themselves.
  AddedTokens(const Json& file, const Normalizer* normalizer, const Vocabulary& vocabulary);

  const std::vector<AddedToken>& all() const { return all_; }          // one an id
  const std::unordered_map<std::string, std::int32_t>& ids() const { return ids_; }   // by content; several may share one
  bool is_special(const std::string& content) const { return special_.count(content) != 0; }
  const std::string* shown(std::int32_t id) const;   // what decoding gives, where that is normalized text; null: its content
  // The leftmost, longest ones: of text as it was given, or as it is normalized.
  void find(Word text, bool normalized, std::vector<TextSpan>& parts) const;

 private:
  void number(const std::vector<Json>& list, const Normalizer* normalizer, const Vocabulary& vocabulary);
  struct Match { const AddedToken* token; std::size_t length; };
  Match longest(Word text, const Trie& trie) const;

  std::vector<AddedToken> all_;
  Trie given_, normalized_;         // their values are places in all_
  std::bitset<256> given_starts_, normalized_starts_;   // by the last byte of what a token begins with: most characters begin none
  std::unordered_map<std::string, std::int32_t> ids_;
  std::unordered_set<std::string> special_;   // contents
  std::unordered_map<std::int32_t, std::string> shown_;
};

}  // namespace tenfold::tokenizing
