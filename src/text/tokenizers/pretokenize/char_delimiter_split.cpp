#include "text/tokenizers/pretokenize/pre_tokenizer.h"

namespace tenfold::tokenizing {
namespace {

class CharDelimiterSplit : public PreTokenizer {
 public:
  explicit CharDelimiterSplit(const Json& json) {
    const std::u32string text = scalars(json.text("delimiter"));
    if (text.size() != 1) json.wrong("'delimiter' must be one character");
    delimiter_ = text[0];
  }
  void split(Word text, std::vector<Word>& words, Made&) const override {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && text[i].c != delimiter_) continue;
      if (i > begin) words.push_back(text.subspan(begin, i - begin));
      begin = i + 1;
    }
  }

 private:
  char32_t delimiter_;
};

}  // namespace

std::unique_ptr<PreTokenizer> read_char_delimiter_split(const Json& json) { return std::make_unique<CharDelimiterSplit>(json); }

}  // namespace tenfold::tokenizing
