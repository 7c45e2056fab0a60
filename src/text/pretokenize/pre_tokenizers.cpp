#include "text/pretokenize/pre_tokenizer.h"

namespace tenfold::tokenizing {
namespace {

class PreTokenizers : public PreTokenizer {
 public:
  explicit PreTokenizers(const Json& json) {
    for (const Json& one : json.list("pretokenizers")) all_.push_back(read_pre_tokenizer(one));
  }
  void split(Word text, std::vector<Word>& words) const override {
    std::vector<Word> parts{text}, next;
    for (const auto& one : all_) {
      next.clear();
      for (const Word part : parts) one->split(part, next);
      parts.swap(next);
    }
    words.insert(words.end(), parts.begin(), parts.end());
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> all_;
};

}  // namespace

std::unique_ptr<PreTokenizer> read_pre_tokenizers(const Json& json) { return std::make_unique<PreTokenizers>(json); }

}  // namespace tenfold::tokenizing
