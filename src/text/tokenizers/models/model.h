// Models: the tokens of a word. One file each.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

#include "text/json.h"
#include "text/tokenizers/pretokenize/pre_tokenizer.h"

namespace tenfold::tokenizing {

struct Token {
  std::int32_t id;
  std::uint32_t begin, end;   // in characters of the caller's text
  // Spaces at the ends of a token that was added; kSpacesOfId: those that the token of this id has.
  static constexpr std::uint16_t kSpacesOfId = UINT16_MAX;
  std::uint16_t spaces_before = kSpacesOfId, spaces_after = kSpacesOfId;
};

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};
using Vocabulary = std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>>;

class Model {
 public:
  virtual ~Model() = default;
  virtual void tokenize(Word word, std::vector<Token>& tokens) const = 0;   // appends; `word` is not empty
  virtual const Vocabulary& vocabulary() const = 0;
};
std::unique_ptr<Model> read_model(const Json& json);   // throws invalid_model and unsupported

std::unique_ptr<Model> read_bpe(const Json& json);
std::unique_ptr<Model> read_unigram(const Json& json);
std::unique_ptr<Model> read_word_level(const Json& json);
std::unique_ptr<Model> read_word_piece(const Json& json);

Vocabulary read_vocabulary(const Json& json);                     // of "vocab": ids of 0 to 2^31 - 1, no one twice
std::int32_t unknown(const Json& json, const Vocabulary& vocabulary);   // the id of "unk_token"

}  // namespace tenfold::tokenizing
