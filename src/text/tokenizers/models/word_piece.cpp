// WordPiece (Schuster and Nakajima 2012): the longest piece that the vocabulary has, then the longest of what follows it.
#include "text/tokenizers/models/model.h"
#include "text/tokenizers/models/trie.h"

namespace tenfold::tokenizing {
namespace {

class WordPiece : public Model {
 public:
  explicit WordPiece(const Json& json)
      : vocabulary_(read_vocabulary(json)), unknown_(unknown(json, vocabulary_)),
        max_characters_(static_cast<std::size_t>(json.number("max_input_chars_per_word", 0, INT32_MAX, 100))) {
    const std::u32string prefix = scalars(json.has("continuing_subword_prefix") ? json.text("continuing_subword_prefix") : "##");
    for (const char32_t c : prefix) inside_ = trie_.add(inside_, c);
    for (const auto& [token, id] : vocabulary_) {
      std::uint32_t node = Trie::kRoot;
      for (const char32_t c : scalars(token)) node = trie_.add(node, c);
      trie_.set(node, id);
    }
  }

  void tokenize(Word word, std::vector<Token>& tokens) const override {
    const std::size_t first = tokens.size();
    bool is_known = word.size() <= max_characters_;
    for (std::size_t at = 0; is_known && at < word.size();) {
      const auto [id, length] = longest(word.subspan(at), at == 0 ? Trie::kRoot : inside_);
      is_known = length > 0;
      if (is_known) tokens.push_back({id, word[at].begin, word[at + length - 1].end});
      at += length;
    }
    if (is_known) return;
    tokens.resize(first);
    tokens.push_back({unknown_, word.front().begin, word.back().end});
  }
  const Vocabulary& vocabulary() const override { return vocabulary_; }

 private:
  struct Piece { std::int32_t id; std::size_t length; };
  Piece longest(Word word, std::uint32_t node) const {
    Piece found{-1, 0};
    for (std::size_t i = 0; i < word.size(); ++i) {
      node = trie_.next(node, word[i].c);
      if (node == Trie::kNone) break;
      if (trie_.value(node) >= 0) found = {trie_.value(node), i + 1};
    }
    return found;
  }

  Vocabulary vocabulary_;
  std::int32_t unknown_;
  std::size_t max_characters_;   // characters of a word; a longer one is unknown
  Trie trie_;
  std::uint32_t inside_ = Trie::kRoot;   // behind the prefix of pieces that go on a word
};

}  // namespace

std::unique_ptr<Model> read_word_piece(const Json& json) { return std::make_unique<WordPiece>(json); }

}  // namespace tenfold::tokenizing
