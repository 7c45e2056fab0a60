#include "text/tokenizers/pretokenize/pre_tokenizer.h"

namespace tenfold::tokenizing {
namespace {

class PreTokenizers : public PreTokenizer {
 public:
  explicit PreTokenizers(const Json& json) {
    for (const Json& one : json.list("pretokenizers")) all_.push_back(read_pre_tokenizer(one));
  }
  void split(Word text, std::vector<Word>& words, Made& made) const override {
    if (all_.size() == 1) return all_[0]->split(text, words, made);
    std::vector<Word> parts{text}, next;
    for (const auto& one : all_) {
      next.clear();
      if (&one == &all_.back()) next.swap(words);   // the last one appends to what is there
      for (const Word part : parts) one->split(part, next, made);
      if (&one == &all_.back()) words.swap(next);
      else parts.swap(next);
    }
    if (all_.empty()) words.push_back(text);
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> all_;
};

}  // namespace

std::unique_ptr<PreTokenizer> read_pre_tokenizers(const Json& json) { return std::make_unique<PreTokenizers>(json); }

}  // namespace tenfold::tokenizing
