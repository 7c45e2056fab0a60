#include <algorithm>
#include <climits>

#include "text/tokenizers/pretokenize/pre_tokenizer.h"
#include "text/tokenizers/unicode/data.h"

namespace tenfold::tokenizing {
namespace {

constexpr unsigned kAny = 0;   // goes with any script

unsigned script_of(char32_t c) {
  const char32_t* const end = data::scripts + data::scripts_size;
  const auto is_behind = [](char32_t at, char32_t run) { return at < (run & 0xffffff); };
  return std::upper_bound(data::scripts, end, c, is_behind)[-1] >> 24;
}

class UnicodeScripts : public PreTokenizer {
 public:
  void split(Word text, std::vector<Word>& words, Made&) const override {
    std::size_t begin = SIZE_MAX;   // where the open word begins; what stands before the first script is dropped, as the reference does
    unsigned last = UINT_MAX;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const unsigned script = script_of(text[i].c);
      if (script == kAny || script == last) continue;
      if (begin != SIZE_MAX) words.push_back(text.subspan(begin, i - begin));
      begin = i, last = script;
    }
    if (begin != SIZE_MAX) words.push_back(text.subspan(begin));
  }
};

}  // namespace

std::unique_ptr<PreTokenizer> read_unicode_scripts(const Json&) { return std::make_unique<UnicodeScripts>(); }

}  // namespace tenfold::tokenizing
