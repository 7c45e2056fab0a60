// Words as GPT-2 parts them, and letters for their bytes.
#include "text/tokenizers/byte_level.h"

#include "text/tokenizers/patterns/pattern.h"

namespace tenfold::tokenizing {
namespace {

class ByteLevel : public PreTokenizer {
 public:
  explicit ByteLevel(const Json& json)
      : adds_space_(json.flag("add_prefix_space", true)), pattern_(json.flag("use_regex", true) ? make_gpt2() : nullptr) {}

  void split(Word text, std::vector<Word>& words, Made& made) const override {
    if (adds_space_ && text[0].c != ' ') text = with_prefix(' ', text, made);
    const std::span<Char> letters = made.take(utf8_length(text));
    write_byte_letters(text, letters.data());
    if (!pattern_) return words.push_back(letters);
    thread_local std::vector<Match> matches;
    matches.clear();
    pattern_->find(text, matches);
    std::size_t begin = 0;
    for (const Match& one : matches) {
      const std::size_t size = utf8_length(text.subspan(one.begin, one.end - one.begin));
      words.push_back(letters.subspan(begin, size));
      begin += size;
    }
  }

 private:
  bool adds_space_;
  std::unique_ptr<Pattern> pattern_;   // null: the text is one word
};

}  // namespace

std::unique_ptr<PreTokenizer> read_byte_level(const Json& json) { return std::make_unique<ByteLevel>(json); }

}  // namespace tenfold::tokenizing
