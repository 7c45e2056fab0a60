#include <algorithm>

#include "text/tokenizers/pretokenize/pre_tokenizer.h"

namespace tenfold::tokenizing {
namespace {

class FixedLength : public PreTokenizer {
 public:
  explicit FixedLength(const Json& json) : length_(static_cast<std::size_t>(json.number("length", 1, INT32_MAX, 5))) {}
  void split(Word text, std::vector<Word>& words, Made&) const override {
    for (std::size_t at = 0; at < text.size(); at += length_) words.push_back(text.subspan(at, std::min(length_, text.size() - at)));
  }

 private:
  std::size_t length_;
};

}  // namespace

std::unique_ptr<PreTokenizer> read_fixed_length(const Json& json) { return std::make_unique<FixedLength>(json); }

}  // namespace tenfold::tokenizing
