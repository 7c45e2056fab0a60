// Pre-tokenizers that look at single characters: neighbors of one group are a word, or each is one, or they are dropped.
#include "text/tokenizers/pretokenize/behavior.h"
#include "text/tokenizers/pretokenize/pre_tokenizer.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::tokenizing {
namespace {

enum class Group : std::uint8_t { dropped, alone, first, second };   // two groups whose runs are words

template <Group (*group_of)(char32_t)>
class ByKinds : public PreTokenizer {
 public:
  void split(Word text, std::vector<Word>& words, Made&) const override {
    std::size_t start = 0;
    Group open = Group::dropped;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const Group group = i < text.size() ? group_of(text[i].c) : Group::dropped;
      if (group == open && group != Group::alone && i < text.size()) continue;
      if (open != Group::dropped) words.push_back(text.subspan(start, i - start));
      start = i, open = group;
    }
  }
};

bool is(char32_t c, int kinds) { return Unicode::tables().is(c, kinds); }

Group bert(char32_t c) { return is(c, kSpace) ? Group::dropped : is(c, kPunctuation) ? Group::alone : Group::first; }
Group space(char32_t c) { return is(c, kSpace) ? Group::dropped : Group::first; }
Group word(char32_t c) { return is(c, kWord) ? Group::first : is(c, kSpace) ? Group::dropped : Group::second; }
Group digits(char32_t c) { return is(c, kDigit) ? Group::second : Group::first; }
Group each_digit(char32_t c) { return is(c, kDigit) ? Group::alone : Group::first; }
Group punctuation(char32_t c) { return is(c, kPunctuation) ? Group::alone : Group::first; }
Group no_punctuation(char32_t c) { return is(c, kPunctuation) ? Group::dropped : Group::first; }
Group runs_of_punctuation(char32_t c) { return is(c, kPunctuation) ? Group::second : Group::first; }

class MergedPunctuation : public PreTokenizer {
 public:
  explicit MergedPunctuation(Behavior behavior) : behavior_(behavior) {}
  void split(Word text, std::vector<Word>& words, Made&) const override {
    std::vector<Match> matches;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_mark = is(text[i].c, kPunctuation);
      if (!is_mark && !matches.empty() && !matches.back().is_match) matches.back().end = i + 1;
      else matches.push_back({i, i + 1, is_mark});
    }
    part(text, behavior_, matches, words);
  }

 private:
  Behavior behavior_;
};

}  // namespace

std::unique_ptr<PreTokenizer> read_by_kinds(const Json& json) {
  const std::string type = json.type();
  if (type == "BertPreTokenizer") return std::make_unique<ByKinds<bert>>();
  if (type == "WhitespaceSplit") return std::make_unique<ByKinds<space>>();
  if (type == "Whitespace") return std::make_unique<ByKinds<word>>();
  if (type == "Digits") {
    if (json.flag("individual_digits", false)) return std::make_unique<ByKinds<each_digit>>();
    return std::make_unique<ByKinds<digits>>();
  }
  switch (json.has("behavior") ? read_behavior(json) : Behavior::isolated) {
    case Behavior::removed: return std::make_unique<ByKinds<no_punctuation>>();
    case Behavior::contiguous: return std::make_unique<ByKinds<runs_of_punctuation>>();
    case Behavior::merged_with_previous: return std::make_unique<MergedPunctuation>(Behavior::merged_with_previous);
    case Behavior::merged_with_next: return std::make_unique<MergedPunctuation>(Behavior::merged_with_next);
    default: return std::make_unique<ByKinds<punctuation>>();
  }
}

}  // namespace tenfold::tokenizing
