#include "text/tokenizers/decode/decoder.h"

namespace tenfold::tokenizing {
namespace {

// Of tokens that stand there more than once one is kept (Graves et al. 2006); padding parts those that are meant twice.
class Ctc : public Decoder {
 public:
  explicit Ctc(const Json& json)
      : padding_(json.text("pad_token")), space_(json.text("word_delimiter_token")), cleans_up_(json.flag("cleanup", true)) {}
  void run(std::vector<std::string>& tokens, const Room&) const override {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i] == tokens[i - 1]) continue;
      std::string token = tokens[i];
      replace_all(token, padding_, "");
      if (cleans_up_) clean_up(token), replace_all(token, space_, " ");
      if (!token.empty()) result.push_back(std::move(token));
    }
    tokens = std::move(result);
  }

 private:
  std::string padding_, space_;
  bool cleans_up_;
};

}  // namespace

std::unique_ptr<Decoder> read_ctc(const Json& json) { return std::make_unique<Ctc>(json); }

}  // namespace tenfold::tokenizing
