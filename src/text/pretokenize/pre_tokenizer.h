// Pre-tokenizers: where a text is parted into words. One file each.
#pragma once

#include <memory>

#include "text/chars.h"
#include "text/json.h"

namespace tenfold::tokenizing {

using Word = std::span<const Char>;

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void split(Word text, std::vector<Word>& words) const = 0;   // appends; no word is empty
};
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json);   // throws invalid_model and unsupported

std::unique_ptr<PreTokenizer> read_by_kinds(const Json& json);         // BertPreTokenizer, Digits, Punctuation, Whitespace, WhitespaceSplit
std::unique_ptr<PreTokenizer> read_pre_tokenizers(const Json& json);   // Sequence

}  // namespace tenfold::tokenizing
