#include "text/added_tokens.h"

#include <algorithm>

#include "text/unicode/unicode.h"

namespace tenfold::tokenizing {
namespace {

AddedToken read(const Json& json) {
  AddedToken one;
  one.content = json.text("content");
  json.number("id", 0, INT32_MAX);
  one.special = json.flag("special", false), one.single_word = json.flag("single_word", false);
  one.strips_left = json.flag("lstrip", false), one.strips_right = json.flag("rstrip", false);
  one.normalized = json.flag("normalized", !one.special);
  return one;
}

// Ids as Hugging Face's tokenizers gives them: the vocabulary's where it has the token, else numbers from its size on, in the list's order,
// whatever the file says. Of a token that comes again the last form counts; it stays special.
std::vector<AddedToken> numbered(const std::vector<Json>& list, const Vocabulary& vocabulary) {
  std::vector<AddedToken> all;
  std::unordered_map<std::string, std::size_t> places;
  auto next = static_cast<std::int32_t>(vocabulary.size());
  for (const Json& json : list) {
    AddedToken one = read(json);
    if (one.content.empty()) continue;
    if (const auto [at, is_new] = places.emplace(one.content, all.size()); !is_new) {
      AddedToken& before = all[at->second];
      one.id = before.id, one.special |= before.special;
      before = std::move(one);
      continue;
    }
    const auto known = vocabulary.find(one.content);
    one.id = known != vocabulary.end() ? known->second : next++;
    all.push_back(std::move(one));
  }
  return all;
}

bool is(const Char& one, Kind kind) { return Unicode::tables().is(one.c, kind); }

}  // namespace

AddedTokens::AddedTokens(const Json& file, const Normalizer* normalizer, const Vocabulary& vocabulary) {
  if (!file.has("added_tokens")) return;
  all_ = numbered(file.list("added_tokens"), vocabulary);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const AddedToken& one = all_[i];
    if (one.special) special_.push_back(one.id);
    Chars chars;
    decode_utf8(one.content, chars);
    if (one.normalized && normalizer) {
      normalizer->run(chars, Room(chars.size()));
      if (std::string text = utf8(chars); text != one.content) changed_.emplace(one.id, std::move(text));
    }
    if (chars.empty()) continue;
    Trie& trie = one.normalized ? normalised_ : given_;
    (one.normalized ? normalised_starts_ : given_starts_).set(chars.front().c & 0xff);
    std::uint32_t node = Trie::kRoot;
    for (const Char& c : chars) node = trie.add(node, c.c);
    trie.set(node, static_cast<std::int32_t>(i));
  }
  std::sort(special_.begin(), special_.end());
}

bool AddedTokens::is_special(std::int32_t id) const { return std::binary_search(special_.begin(), special_.end(), id); }

const std::string* AddedTokens::normalised(std::int32_t id) const {
  const auto at = changed_.find(id);
  return at == changed_.end() ? nullptr : &at->second;
}

AddedTokens::Match AddedTokens::longest(Word text, const Trie& trie) const {
  Match found{nullptr, 0};
  std::uint32_t node = Trie::kRoot;
  for (std::size_t i = 0; i < text.size(); ++i) {
    node = trie.next(node, text[i].c);
    if (node == Trie::kNone) break;
    if (trie.value(node) >= 0) found = {&all_[static_cast<std::size_t>(trie.value(node))], i + 1};
  }
  return found;
}

void AddedTokens::find(Word text, bool normalized, std::vector<Part>& parts) const {
  const Trie& trie = normalized ? normalised_ : given_;
  const std::bitset<256>& starts = normalized ? normalised_starts_ : given_starts_;
  std::size_t open = 0;   // what stands before is in `parts`
  for (std::size_t at = starts.any() ? 0 : text.size(); at < text.size();) {
    if (!starts[text[at].c & 0xff]) {
      ++at;
      continue;
    }
    const auto [token, length] = longest(text.subspan(at), trie);
    std::size_t begin = at, end = at + length;
    const bool in_word = token && token->single_word &&
                         ((begin > 0 && is(text[begin - 1], kWord)) || (end < text.size() && is(text[end], kWord)));
    if (!token) {
      ++at;
      continue;
    }
    at = end;
    if (in_word) continue;
    if (token->strips_left)
      while (begin > open && is(text[begin - 1], kSpace)) --begin;
    if (token->strips_right)
      while (end < text.size() && is(text[end], kSpace)) ++end;
    if (begin > open) parts.push_back({text.subspan(open, begin - open), -1});
    parts.push_back({text.subspan(begin, end - begin), token->id});
    at = open = end;
  }
  if (open < text.size()) parts.push_back({text.subspan(open), -1});
}

}  // namespace tenfold::tokenizing
