#include "text/tokenizers/added_tokens.h"

#include "text/tokenizers/unicode/unicode.h"

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

// How it is looked for.
Chars form_of(const AddedToken& one, const Normalizer* normalizer) {
  Chars chars;
  decode_utf8(one.content, chars);
  if (one.normalized && normalizer) normalizer->run(chars, Room(chars.size()));
  return chars;
}

bool is(const Char& one, Kind kind) { return Unicode::tables().is(one.c, kind); }

}  // namespace

// Ids as Hugging Face's tokenizers gives them: the vocabulary's where it has the token, else numbers from its size on, in the list's order,
// whatever the file says. Of an id that comes again the last token counts, be it another form or, beside a vocabulary with gaps, another
// content. A content that was special in one form stays so, and what was normalized once is shown so.
void AddedTokens::number(const std::vector<Json>& list, const Normalizer* normalizer, const Vocabulary& vocabulary) {
  std::unordered_map<std::int32_t, std::size_t> places;
  auto next = static_cast<std::int32_t>(vocabulary.size());
  for (const Json& json : list) {
    AddedToken one = read(json);
    if (one.content.empty()) continue;
    const auto [content, is_new] = ids_.emplace(one.content, next);
    if (const auto known = vocabulary.find(one.content); is_new) {
      if (known != vocabulary.end()) content->second = known->second;
      else ++next;
    }
    one.id = content->second;
    if (one.special) special_.insert(one.content);
    if (std::string form = utf8(form_of(one, normalizer)); form != one.content) shown_.insert_or_assign(one.id, std::move(form));
    const auto [place, is_first] = places.emplace(one.id, all_.size());
    if (is_first) all_.push_back(std::move(one));
    else all_[place->second] = std::move(one);
  }
}

AddedTokens::AddedTokens(const Json& file, const Normalizer* normalizer, const Vocabulary& vocabulary) {
  if (!file.has("added_tokens")) return;
  number(file.list("added_tokens"), normalizer, vocabulary);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const AddedToken& one = all_[i];
    const Chars chars = form_of(one, normalizer);
    if (chars.empty()) continue;
    Trie& trie = one.normalized ? normalized_ : given_;
    (one.normalized ? normalized_starts_ : given_starts_).set(chars.front().c & 0xff);
    std::uint32_t node = Trie::kRoot;
    for (const Char& c : chars) node = trie.add(node, c.c);
    trie.set(node, static_cast<std::int32_t>(i));
  }
}

const std::string* AddedTokens::shown(std::int32_t id) const {
  const auto at = shown_.find(id);
  return at == shown_.end() ? nullptr : &at->second;
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

void AddedTokens::find(Word text, bool normalized, std::vector<TextSpan>& parts) const {
  const Trie& trie = normalized ? normalized_ : given_;
  const std::bitset<256>& starts = normalized ? normalized_starts_ : given_starts_;
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
