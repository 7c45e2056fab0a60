#include "text/tokenizers/decode/decoder.h"

namespace tenfold::tokenizing {
namespace {

// The suffix of a word's last piece becomes the space behind the word.
class BpeDecoder : public Decoder {
 public:
  explicit BpeDecoder(const Json& json) : suffix_(json.text("suffix")) {}
  void run(std::vector<std::string>& tokens, const Room&) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
  }

 private:
  std::string suffix_;
};

}  // namespace

std::unique_ptr<Decoder> read_bpe_decoder(const Json& json) { return std::make_unique<BpeDecoder>(json); }

}  // namespace tenfold::tokenizing
