#include "text/tokenizers/decode/decoder.h"
#include "text/tokenizers/patterns/pattern.h"

namespace tenfold::tokenizing {
namespace {

class ReplaceDecoder : public Decoder {
 public:
  explicit ReplaceDecoder(const Json& json)
      : pattern_(read_pattern(json.at("pattern"))), content_(json.text("content")), rule_(json.where) {}
  void run(std::vector<std::string>& tokens, const Room& room) const override {
    std::vector<Match> matches;
    Chars chars;
    std::size_t made = 0;
    for (std::string& token : tokens) {
      if (token.empty()) continue;
      chars.clear(), matches.clear();
      decode_utf8(token, chars);
      pattern_->find(chars, matches);
      token.clear();
      for (const Match& one : matches) {
        if (one.is_match) room.expect(made + token.size() + content_.size(), rule_);
        token += one.is_match ? content_ : utf8(Word(chars).subspan(one.begin, one.end - one.begin));
      }
      made += token.size();
    }
  }

 private:
  std::unique_ptr<Pattern> pattern_;
  std::string content_, rule_;
};

}  // namespace

std::unique_ptr<Decoder> read_replace_decoder(const Json& json) { return std::make_unique<ReplaceDecoder>(json); }

}  // namespace tenfold::tokenizing
