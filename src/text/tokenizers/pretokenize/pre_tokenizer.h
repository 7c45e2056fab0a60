// Pre-tokenizers: where a text is parted into words. One file each.
#pragma once

#include <memory>

#include "text/chars.h"
#include "text/json.h"
#include "text/tokenizers/made.h"

namespace tenfold::tokenizing {

using Word = std::span<const Char>;

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Appends words, of which none is empty: pieces of the text, or of what is put into `made`.
  virtual void split(Word text, std::vector<Word>& words, Made& made) const = 0;
};
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json);   // throws invalid_model and unsupported

std::unique_ptr<PreTokenizer> read_by_kinds(const Json& json);   // BertPreTokenizer, Digits, Punctuation, Whitespace, WhitespaceSplit
std::unique_ptr<PreTokenizer> read_byte_level(const Json& json);
std::unique_ptr<PreTokenizer> read_char_delimiter_split(const Json& json);
std::unique_ptr<PreTokenizer> read_fixed_length(const Json& json);
std::unique_ptr<PreTokenizer> read_metaspace(const Json& json);
std::unique_ptr<PreTokenizer> read_pre_tokenizers(const Json& json);   // Sequence
std::unique_ptr<PreTokenizer> read_split(const Json& json);
std::unique_ptr<PreTokenizer> read_unicode_scripts(const Json& json);

// The text with one character before it, which has the place of the first one. The text is not empty.
Word with_prefix(char32_t c, Word text, Made& made);

}  // namespace tenfold::tokenizing
