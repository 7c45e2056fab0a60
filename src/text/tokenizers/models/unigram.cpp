// Unigram (Kudo 2018): the tokens of a word whose scores have the greatest sum, by Viterbi's algorithm.
#include <nlohmann/json.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "text/fail.h"
#include "text/tokenizers/models/model.h"
#include "text/tokenizers/models/trie.h"
#include "text/tokenizers/models/word_cache.h"

namespace tenfold::tokenizing {
namespace {

constexpr double kUnknownPenalty = 10;

// The reference's reader of JSON takes the digits of a number as a whole one and divides that by a power of ten, which may be off by the
// last bit. Of two ways whose scores are equal but for that, it then takes the other one: the same is done here, from the shortest digits.
double as_the_reference_reads(double exact) {
  char text[40];
  const char* const end = std::to_chars(text, text + sizeof text, std::abs(exact), std::chars_format::scientific).ptr;
  std::uint64_t digits = 0;
  int exponent = 0;
  const char* at = text;
  for (bool is_fraction = false; at != end && *at != 'e'; ++at) {
    if (*at == '.') is_fraction = true;
    else digits = digits * 10 + static_cast<std::uint64_t>(*at - '0'), exponent -= is_fraction;
  }
  if (at == end) return exact;   // infinite, or no number
  int power = 0;
  std::from_chars(at + (at[1] == '+' ? 2 : 1), end, power);
  exponent += power;
  if (std::abs(exponent) > 300) return exact;
  const double scale = std::pow(10.0, std::abs(exponent));   // glibc's is right to the last bit, as the reference's table is
  const auto whole = static_cast<double>(digits);
  return std::copysign(exponent < 0 ? whole / scale : whole * scale, exact);
}

// The best way to a place in a word.
struct Best {
  double score = 0;
  std::uint32_t from = UINT32_MAX;   // where its last token begins; the greatest number: there is no way yet
  std::int32_t id = 0;
  void offer(double other, std::uint32_t begin, std::int32_t token) {
    if (from == UINT32_MAX || other > score) score = other, from = begin, id = token;
  }
};

struct Piece { std::int32_t id; std::uint32_t begin, end; };

class Unigram : public Model {
 public:
  explicit Unigram(const Json& json) : number_(WordCache::new_model()) {
    unknown_ = static_cast<std::int32_t>(json.number("unk_id", 0, INT32_MAX, -1));
    bytes_.fill(-1);
    read_vocabulary(json);
    if (json.has("unk_id") && static_cast<std::size_t>(unknown_) >= scores_.size())
      json.wrong("unk_id is " + std::to_string(unknown_) + ", and the vocabulary has " + std::to_string(scores_.size()) + " tokens");
    falls_back_ = json.flag("byte_fallback", false);
    for (const auto& [token, id] : vocabulary_) {
      std::uint32_t node = Trie::kRoot;
      for (const char32_t c : scalars(token)) node = trie_.add(node, c);
      if (node != Trie::kRoot) trie_.set(node, id);
    }
    constexpr char kDigits[] = "0123456789ABCDEF";
    for (std::size_t byte = 0; byte < 256; ++byte)
      if (const auto at = vocabulary_.find(std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">"); at != vocabulary_.end())
        bytes_[byte] = at->second;
  }

  void tokenize(Word word, std::vector<Token>& tokens) const override {
    WordCache::Entry* kept = word.size() <= WordCache::kMaxChars ? &WordCache::entry(number_, word) : nullptr;
    if (kept && kept->holds(number_, word)) return kept->give(word, tokens);
    thread_local std::vector<Piece> pieces;
    find_best(word, pieces);
    bool is_plain = true;   // each piece is one token
    for (Piece& one : pieces) is_plain &= put(word, one, tokens);
    if (kept && is_plain && pieces.size() <= WordCache::kMaxTokens)
      kept->keep(number_, word, pieces.size(), [&](std::size_t i) { return pieces[i].id; },
                 [&](std::size_t i) { return pieces[i].end - pieces[i].begin; });
  }
  const Vocabulary& vocabulary() const override { return vocabulary_; }

 private:
  void read_vocabulary(const Json& json) {
    double min = std::numeric_limits<double>::infinity();
    for (const Json& one : json.list("vocab")) {
      if (!one.value.is_array() || one.value.size() != 2 || !one.value[0].is_string() || !one.value[1].is_number())
        one.wrong("a token and its score were expected");
      vocabulary_[one.value[0].get<std::string>()] = static_cast<std::int32_t>(scores_.size());   // of two alike the last one counts
      scores_.push_back(as_the_reference_reads(one.value[1].get<double>()));
      min = std::min(min, scores_.back());
    }
    unknown_score_ = min - kUnknownPenalty;
  }

  // In their order. Neighbors that are unknown are one piece.
  void find_best(Word word, std::vector<Piece>& pieces) const {
    thread_local std::vector<Best> best;
    const auto size = static_cast<std::uint32_t>(word.size());
    best.assign(size + 1, {});
    for (std::uint32_t begin = 0; begin < size; ++begin) {
      const double score = best[begin].score;
      bool has_single = false;
      std::uint32_t node = Trie::kRoot;
      for (std::uint32_t i = begin; i < size; ++i) {
        node = trie_.next(node, word[i].c);
        if (node == Trie::kNone) break;
        const std::int32_t id = trie_.value(node);
        if (id < 0) continue;
        best[i + 1].offer(scores_[static_cast<std::size_t>(id)] + score, begin, id);
        has_single |= i == begin;
      }
      if (has_single) continue;
      if (unknown_ < 0) fail(ErrorKind::invalid_model, "the text has a character that the vocabulary lacks, and there is no unk_id");
      best[begin + 1].offer(unknown_score_ + score, begin, unknown_);
    }
    pieces.clear();
    for (std::uint32_t end = size; end > 0; end = best[end].from) {
      const Best& one = best[end];
      if (one.id == unknown_ && !pieces.empty() && pieces.back().id == unknown_) pieces.back().begin = one.from;
      else pieces.push_back({one.id, one.from, end});
    }
    std::reverse(pieces.begin(), pieces.end());
  }

  // False: a piece that is unknown became its bytes. The reference looks a piece's text up once more, unknown ones, too.
  bool put(Word word, Piece& piece, std::vector<Token>& tokens) const {
    const Word text = word.subspan(piece.begin, piece.end - piece.begin);
    if (piece.id == unknown_) {
      const std::string found = utf8(text);
      const auto known = vocabulary_.find(found);
      if (known != vocabulary_.end()) piece.id = known->second;
      else if (falls_back_ && put_bytes(found, text, tokens)) return false;
    }
    tokens.push_back({piece.id, text.front().begin, text.back().end});
    return true;
  }
  bool put_bytes(std::string_view bytes, Word text, std::vector<Token>& tokens) const {
    for (const char byte : bytes)
      if (bytes_[static_cast<unsigned char>(byte)] < 0) return false;
    for (const char byte : bytes) tokens.push_back({bytes_[static_cast<unsigned char>(byte)], text.front().begin, text.back().end});
    return true;
  }

  Vocabulary vocabulary_;
  std::vector<double> scores_;   // by id
  std::array<std::int32_t, 256> bytes_;
  std::int32_t unknown_ = -1;    // below 0: there is none
  double unknown_score_ = 0;
  bool falls_back_ = false;
  Trie trie_;
  std::uint32_t number_;   // in caches
};

}  // namespace

std::unique_ptr<Model> read_unigram(const Json& json) { return std::make_unique<Unigram>(json); }

}  // namespace tenfold::tokenizing
