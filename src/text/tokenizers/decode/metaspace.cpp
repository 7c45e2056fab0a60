#include "text/tokenizers/decode/decoder.h"
#include "text/tokenizers/pretokenize/metaspace.h"

namespace tenfold::tokenizing {
namespace {

// In the first token they are what was put in front.
class MetaspaceDecoder : public Decoder {
 public:
  explicit MetaspaceDecoder(const Json& json) : form_(read_metaspace_form(json)) { append_utf8(form_.space, space_); }
  void run(std::vector<std::string>& tokens, const Room&) const override {
    const bool drops = form_.scheme != MetaspaceForm::never;
    for (std::size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], space_, i == 0 && drops ? "" : " ");
  }

 private:
  MetaspaceForm form_;
  std::string space_;
};

}  // namespace

std::unique_ptr<Decoder> read_metaspace_decoder(const Json& json) { return std::make_unique<MetaspaceDecoder>(json); }

}  // namespace tenfold::tokenizing
