#include "text/tokenizers/pretokenize/pre_tokenizer.h"

#include <algorithm>

namespace tenfold::tokenizing {

std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json) {
  const std::string type = json.type();
  if (type == "ByteLevel") return read_byte_level(json);
  if (type == "CharDelimiterSplit") return read_char_delimiter_split(json);
  if (type == "FixedLength") return read_fixed_length(json);
  if (type == "Metaspace") return read_metaspace(json);
  if (type == "Sequence") return read_pre_tokenizers(json);
  if (type == "Split") return read_split(json);
  if (type == "UnicodeScripts") return read_unicode_scripts(json);
  for (const char* one : {"BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Digits", "Punctuation"})
    if (type == one) return read_by_kinds(json);
  json.missing_component("BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Metaspace, Punctuation, Sequence, "
                         "Split, UnicodeScripts, Whitespace and WhitespaceSplit");
}

Word with_prefix(char32_t c, Word text, Made& made) {
  const std::span<Char> longer = made.take(text.size() + 1);
  longer[0] = {c, text[0].begin, text[0].end};
  std::copy(text.begin(), text.end(), longer.begin() + 1);
  return longer;
}

}  // namespace tenfold::tokenizing
