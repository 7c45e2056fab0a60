#include "text/tokenizers/pretokenize/behavior.h"

namespace tenfold::tokenizing {
namespace {

class Split : public PreTokenizer {
 public:
  explicit Split(const Json& json)
      : pattern_(read_pattern(json.at("pattern"))), behavior_(read_behavior(json)), inverts_(json.flag("invert", false)) {}

  void split(Word text, std::vector<Word>& words, Made&) const override {
    thread_local std::vector<Match> matches;
    matches.clear();
    pattern_->find(text, matches);
    if (inverts_)
      for (Match& one : matches) one.is_match = !one.is_match;
    part(text, behavior_, matches, words);
  }

 private:
  std::unique_ptr<Pattern> pattern_;
  Behavior behavior_;
  bool inverts_;
};

}  // namespace

std::unique_ptr<PreTokenizer> read_split(const Json& json) { return std::make_unique<Split>(json); }

}  // namespace tenfold::tokenizing
