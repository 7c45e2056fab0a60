#include "text/tokenizers/models/model.h"

namespace tenfold::tokenizing {
namespace {

class WordLevel : public Model {
 public:
  explicit WordLevel(const Json& json) : vocabulary_(read_vocabulary(json)), unknown_(unknown(json, vocabulary_)) {}
  void tokenize(Word word, std::vector<Token>& tokens) const override {
    const auto at = vocabulary_.find(utf8(word));
    tokens.push_back({at == vocabulary_.end() ? unknown_ : at->second, word.front().begin, word.back().end});
  }
  const Vocabulary& vocabulary() const override { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
  std::int32_t unknown_;
};

}  // namespace

std::unique_ptr<Model> read_word_level(const Json& json) { return std::make_unique<WordLevel>(json); }

}  // namespace tenfold::tokenizing
