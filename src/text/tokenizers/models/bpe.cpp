// Byte pair encoding: characters, of which pairs become one in the order of the list of merges.
#include <nlohmann/json.hpp>
#include <algorithm>
#include <array>

#include "text/char_table.h"
#include "text/fail.h"
#include "text/tokenizers/byte_level.h"
#include "text/tokenizers/models/merge.h"
#include "text/tokenizers/models/model.h"
#include "text/tokenizers/models/word_cache.h"

namespace tenfold::tokenizing {
namespace {

std::string text_or_none(const Json& json, const char* key) { return json.has(key) ? json.text(key) : std::string(); }

// "a b", or ["a", "b"].
std::pair<std::string, std::string> parts_of(const Json& merge) {
  if (merge.value.is_array() && merge.value.size() == 2 && merge.value[0].is_string() && merge.value[1].is_string())
    return {merge.value[0].get<std::string>(), merge.value[1].get<std::string>()};
  const std::string both = merge.value.is_string() ? merge.value.get<std::string>() : std::string();
  const std::size_t space = both.find(' ');
  if (space == std::string::npos || both.find(' ', space + 1) != std::string::npos)
    merge.wrong("two tokens were expected, as a list or with one space between them");
  return {both.substr(0, space), both.substr(space + 1)};
}

bool is_version(const Json& merge) { return merge.value.is_string() && merge.value.get<std::string>().starts_with("#version"); }

std::vector<Symbol>& symbols_for_thread() {
  thread_local std::vector<Symbol> all;
  return all;
}

class Bpe : public Model {
 public:
  explicit Bpe(const Json& json)
      : vocabulary_(read_vocabulary(json)), prefix_(text_or_none(json, "continuing_subword_prefix")),
        suffix_(text_or_none(json, "end_of_word_suffix")), unknown_token_(text_or_none(json, "unk_token")),
        has_unknown_(json.has("unk_token")), fuses_(json.flag("fuse_unk", false)), ignores_merges_(json.flag("ignore_merges", false)),
        pairs_(json.at("merges").value.size()), number_(WordCache::new_model()) {
    unknown_ = id_of(unknown_token_);
    read_merges(json);
    for (const auto& [token, id] : vocabulary_) {
      for (std::size_t form = 0; form < forms(); ++form)
        if (const std::u32string c = inside(token, form); c.size() == 1) chars_[form].set(c[0], id);
    }
    if (json.flag("byte_fallback", false)) find_bytes();
    parts_at_spaces_ = can_part_at_spaces();
  }

  void tokenize(Word word, std::vector<Token>& tokens) const override {
    if (!parts_at_spaces_) return tokenize_part(word, tokens);
    std::size_t begin = 0;
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (word[i].c != kSpaceLetter || word[i - 1].c == kSpaceLetter) continue;
      tokenize_part(word.subspan(begin, i - begin), tokens);
      begin = i;
    }
    tokenize_part(word.subspan(begin), tokens);
  }
  const Vocabulary& vocabulary() const override { return vocabulary_; }

 private:
  static constexpr char32_t kSpaceLetter = 0x2581;   // SentencePiece's

  // Whether no token goes on over a space: then a text without pre-tokenizer is many short words, which caches know.
  bool can_part_at_spaces() const {
    if (forms() > 1 || ignores_merges_ || unknown_ < 0 || chars_[0].of(kSpaceLetter) < 0) return false;
    for (const auto& [token, id] : vocabulary_) {
      const std::u32string text = scalars(token);
      for (std::size_t i = 1; i < text.size(); ++i)
        if (text[i] == kSpaceLetter && text[i - 1] != kSpaceLetter) return false;
    }
    return true;
  }

  void tokenize_part(Word word, std::vector<Token>& tokens) const {
    const bool is_short = word.size() <= WordCache::kMaxChars;
    WordCache::Entry* kept = is_short ? &WordCache::entry(number_, word) : nullptr;
    if (kept && kept->holds(number_, word)) return kept->give(word, tokens);
    std::vector<Symbol>& symbols = symbols_for_thread();
    if (!whole(word, symbols) && !start(word, symbols)) return tokenize_unknown(word, symbols, tokens);
    if (symbols.size() > 1) merge(pairs_, symbols);
    std::size_t at = 0;
    for (const Symbol& one : symbols) {
      tokens.push_back({one.id, word[at].begin, word[at + one.length - 1].end});
      at += one.length;
    }
    if (kept && symbols.size() <= WordCache::kMaxTokens)
      kept->keep(number_, word, symbols.size(), [&](std::size_t i) { return symbols[i].id; },
                 [&](std::size_t i) { return symbols[i].length; });
  }

  enum Form : std::size_t { kFirst = 0, kLater = 1, kLast = 2 };   // bits: behind another character; the last one
  std::size_t forms() const { return prefix_.empty() && suffix_.empty() ? 1 : 4; }
  std::size_t form_of(std::size_t at, std::size_t size) const {
    return forms() == 1 ? 0 : (at > 0 ? kLater : kFirst) | (at + 1 == size ? kLast : kFirst);
  }
  // What a token has between prefix and suffix where a character has such a form; empty where it lacks them.
  std::u32string inside(std::string_view token, std::size_t form) const {
    if (form & kLater) {
      if (!token.starts_with(prefix_)) return {};
      token.remove_prefix(prefix_.size());
    }
    if (form & kLast) {
      if (!token.ends_with(suffix_)) return {};
      token.remove_suffix(suffix_.size());
    }
    return token.size() <= 4 ? scalars(token) : std::u32string();
  }
  std::int32_t id_of(std::string_view token) const {
    const auto at = vocabulary_.find(token);
    return at == vocabulary_.end() ? -1 : at->second;
  }

  void read_merges(const Json& json) {
    std::uint32_t rank = 0;
    for (const Json& one : json.list("merges")) {
      if (is_version(one)) continue;
      const auto [first, second] = parts_of(one);
      if (second.size() < prefix_.size()) one.wrong("'" + second + "' is shorter than the prefix of what goes on a word");
      const std::string both = first + second.substr(prefix_.size());
      for (const std::string& token : {first, second, both})
        if (id_of(token) < 0) one.wrong("the vocabulary lacks '" + token + "'");
      pairs_.set(id_of(first), id_of(second), {rank++, id_of(both)});
    }
  }
  void find_bytes() {
    constexpr char kDigits[] = "0123456789ABCDEF";
    falls_back_ = true;
    for (std::size_t byte = 0; byte < 256; ++byte)
      bytes_[byte] = id_of({std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">"});
  }

  bool whole(Word word, std::vector<Symbol>& symbols) const {
    if (!ignores_merges_) return false;
    const std::int32_t id = id_of(utf8(word));
    if (id >= 0) symbols.assign(1, {id, static_cast<std::uint32_t>(word.size())});
    return id >= 0;
  }
  // A symbol for each character; false where one is not in the vocabulary.
  bool start(Word word, std::vector<Symbol>& symbols) const {
    symbols.resize(word.size());
    for (std::size_t i = 0; i < word.size(); ++i) {
      symbols[i] = {chars_[form_of(i, word.size())].of(word[i].c), 1};
      if (symbols[i].id < 0) return false;
    }
    return true;
  }

  // Lengths are bytes here, as those of the reference, which decides where a token stands if characters are left out.
  void tokenize_unknown(Word word, std::vector<Symbol>& symbols, std::vector<Token>& tokens) const {
    symbols.clear();
    std::vector<std::uint32_t> chars;   // of each byte
    std::uint32_t open = 0;             // bytes of characters that are unknown, which are not among the symbols yet
    const auto close = [&] {
      if (open > 0) symbols.push_back({unknown_, open});
      open = 0;
    };
    for (std::size_t i = 0; i < word.size(); ++i) {
      const auto size = static_cast<std::uint32_t>(utf8_length(word.subspan(i, 1)));
      chars.insert(chars.end(), size, static_cast<std::uint32_t>(i));
      const std::size_t form = form_of(i, word.size());
      if (const std::int32_t id = chars_[form].of(word[i].c); id >= 0) close(), symbols.push_back({id, size});
      else if (falls_back_ && put_bytes(word[i].c, form, symbols)) continue;
      else if (has_unknown_) {
        if (unknown_ < 0) fail(ErrorKind::invalid_model, "the vocabulary lacks the unk_token '" + unknown_token_ + "'");
        if (!fuses_) close();
        open += size;
      }
    }
    close();
    merge(pairs_, symbols);
    std::size_t at = 0;
    for (const Symbol& one : symbols) {
      const std::size_t begin = std::min(at, chars.size() - 1), end = std::min(at + one.length, chars.size()) - 1;
      tokens.push_back({one.id, word[chars[begin]].begin, word[chars[std::max(begin, end)]].end});
      at += one.length;
    }
  }
  bool put_bytes(char32_t c, std::size_t form, std::vector<Symbol>& symbols) const {
    std::string text = form & kLater ? prefix_ : std::string();
    append_utf8(c, text);
    if (form & kLast) text += suffix_;
    for (const char byte : text)
      if (bytes_[static_cast<unsigned char>(byte)] < 0) return false;
    for (const char byte : text) symbols.push_back({bytes_[static_cast<unsigned char>(byte)], 1});
    return true;
  }

  Vocabulary vocabulary_;
  std::string prefix_, suffix_, unknown_token_;
  bool has_unknown_, fuses_, ignores_merges_, falls_back_ = false, parts_at_spaces_ = false;
  PairTable pairs_;
  std::uint32_t number_;   // in caches
  std::array<CharTable, 4> chars_;   // by form
  std::array<std::int32_t, 256> bytes_;
  std::int32_t unknown_ = -1;
};

}  // namespace

std::unique_ptr<Model> read_bpe(const Json& json) { return std::make_unique<Bpe>(json); }

}  // namespace tenfold::tokenizing
