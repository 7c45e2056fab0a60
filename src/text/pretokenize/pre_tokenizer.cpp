#include "text/pretokenize/pre_tokenizer.h"

namespace tenfold::tokenizing {

std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json) {
  const std::string type = json.type();
  if (type == "Sequence") return read_pre_tokenizers(json);
  for (const char* one : {"BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Digits", "Punctuation"})
    if (type == one) return read_by_kinds(json);
  json.missing_component("BertPreTokenizer, Digits, Punctuation, Sequence, Whitespace and WhitespaceSplit");
}

}  // namespace tenfold::tokenizing
