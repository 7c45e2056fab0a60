#include "text/chars.h"
#include "text/tokenizers/decode/decoder.h"

namespace tenfold::tokenizing {
namespace {

// Takes at most so many of one character from either end of each token.
class StripDecoder : public Decoder {
 public:
  explicit StripDecoder(const Json& json) : start_(json.number("start", 0, INT32_MAX)), stop_(json.number("stop", 0, INT32_MAX)) {
    const std::u32string content = scalars(json.text("content"));
    if (content.size() != 1) json.wrong("'content' must be one character");
    append_utf8(content[0], content_);
  }
  void run(std::vector<std::string>& tokens, const Room&) const override {
    for (std::string& token : tokens) {
      std::string_view left = token;
      for (std::int64_t i = 0; i < start_ && left.starts_with(content_); ++i) left.remove_prefix(content_.size());
      for (std::int64_t i = 0; i < stop_ && left.ends_with(content_); ++i) left.remove_suffix(content_.size());
      token = std::string(left);
    }
  }

 private:
  std::int64_t start_, stop_;
  std::string content_;
};

}  // namespace

std::unique_ptr<Decoder> read_strip_decoder(const Json& json) { return std::make_unique<StripDecoder>(json); }

}  // namespace tenfold::tokenizing
