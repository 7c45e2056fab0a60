#include "text/tokenizers/normalize/normalizer.h"
#include "text/tokenizers/patterns/pattern.h"

namespace tenfold::tokenizing {
namespace {

class Replace : public Normalizer {
 public:
  explicit Replace(const Json& json)
      : pattern_(read_pattern(json.at("pattern"))), content_(scalars(json.text("content"))), rule_(json.where) {}
  void run(Chars& chars, const Room& room) const override {
    if (chars.empty()) return;
    std::vector<Match> matches;
    pattern_->find(chars, matches);
    if (matches.size() == 1 && !matches[0].is_match) return;
    Chars result;
    result.reserve(chars.size());
    for (const Match& one : matches) {
      if (!one.is_match) {
        result.insert(result.end(), chars.data() + one.begin, chars.data() + one.end);
        continue;
      }
      // What is put in has the place of the last character that it replaces, or of the one before it.
      room.expect(result.size() + content_.size(), rule_);
      const Char place = one.end > 0 ? chars[one.end - 1] : Char{};
      for (const char32_t c : content_) result.push_back({c, place.begin, place.end});
    }
    chars = std::move(result);
  }

 private:
  std::unique_ptr<Pattern> pattern_;
  std::u32string content_;
  std::string rule_;
};

}  // namespace

std::unique_ptr<Normalizer> read_replace(const Json& json) { return std::make_unique<Replace>(json); }

}  // namespace tenfold::tokenizing
