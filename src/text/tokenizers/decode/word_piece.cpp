#include <utility>

#include "text/tokenizers/decode/decoder.h"

namespace tenfold::tokenizing {
namespace {

// In this order.
constexpr std::pair<std::string_view, std::string_view> kCleaned[] = {
    {" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"},
    {" 've", "'ve"}, {" 're", "'re"}};

// Pieces with the prefix go on a word.
class WordPieceDecoder : public Decoder {
 public:
  explicit WordPieceDecoder(const Json& json) : prefix_(json.text("prefix")), cleans_up_(json.flag("cleanup", true)) {}
  void run(std::vector<std::string>& tokens, const Room&) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0 && token.starts_with(prefix_)) token.erase(0, prefix_.size());
      else if (i > 0) token.insert(0, " ");
      if (cleans_up_) clean_up(token);
    }
  }

 private:
  std::string prefix_;
  bool cleans_up_;
};

}  // namespace

void clean_up(std::string& text) {
  for (const auto& [what, by] : kCleaned) replace_all(text, what, by);
}

std::unique_ptr<Decoder> read_word_piece_decoder(const Json& json) { return std::make_unique<WordPieceDecoder>(json); }

}  // namespace tenfold::tokenizing
