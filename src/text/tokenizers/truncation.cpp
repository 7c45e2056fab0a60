#include "text/tokenizers/truncation.h"

#include <nlohmann/json.hpp>
#include <algorithm>

#include "text/fail.h"

namespace tenfold::tokenizing {
namespace {

void keep(const Truncation& how, std::size_t length, std::vector<Token>& tokens) {
  if (tokens.size() <= length) return;
  if (how.from_left) tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(length));
  else tokens.resize(length);
}

bool is_left(const Json& json) {
  if (!json.has("direction")) return false;
  const std::string direction = json.text("direction");
  if (direction != "Left" && direction != "Right") json.wrong("the direction '" + direction + "' is neither Left nor Right");
  return direction == "Left";
}

// The shorter text keeps what it has as long as that is at most a half.
void keep_longest_first(const Truncation& how, std::size_t max, std::vector<Token>& first, std::vector<Token>& second) {
  std::size_t less = std::min(first.size(), second.size());
  std::size_t more = less > max ? less : std::max(less, max - less);
  if (less + more > max) less = max / 2, more = less + max % 2;
  const bool first_is_longer = first.size() > second.size();
  keep(how, first_is_longer ? more : less, first), keep(how, first_is_longer ? less : more, second);
}

template <class T>
void insert(std::vector<T>& to, bool on_left, std::size_t count, T value) {
  to.insert(on_left ? to.begin() : to.end(), count, value);
}

}  // namespace

Truncation read_truncation(const Json& file) {
  Truncation how;
  if (!file.has("truncation")) return how;
  const Json json = file.at("truncation");
  how.length = static_cast<int>(json.number("max_length", 1, INT32_MAX));
  how.from_left = is_left(json);
  const std::string strategy = json.has("strategy") ? json.text("strategy") : "LongestFirst";
  if (strategy == "OnlyFirst") how.strategy = Truncation::only_first;
  else if (strategy == "OnlySecond") how.strategy = Truncation::only_second;
  else if (strategy != "LongestFirst") json.wrong("the strategy '" + strategy + "' is none of LongestFirst, OnlyFirst and OnlySecond");
  return how;
}

void truncate(const Truncation& how, int special, std::vector<Token>& first, std::vector<Token>* second) {
  if (how.length == 0) return;
  if (how.length < special)
    fail(ErrorKind::invalid_argument, "texts are truncated to " + std::to_string(how.length) + " tokens, and there are " +
                                          std::to_string(special) + " special ones alone");
  const auto max = static_cast<std::size_t>(how.length - special);
  const std::size_t all = first.size() + (second ? second->size() : 0);
  if (all <= max) return;
  if (max == 0) {   // only special tokens have room, whatever the strategy
    first.clear();
    if (second) second->clear();
    return;
  }
  if (how.strategy == Truncation::longest_first) {
    if (second) keep_longest_first(how, max, first, *second);
    else keep(how, max, first);
    return;
  }
  std::vector<Token>* target = how.strategy == Truncation::only_first ? &first : second;
  if (!target || target->size() <= all - max)
    fail(ErrorKind::invalid_argument, "the text that is to be truncated is too short: " + std::to_string(all) + " tokens are to become " +
                                          std::to_string(max));
  keep(how, target->size() - (all - max), *target);
}

Padding read_padding(const Json& file) {
  Padding how;
  if (!file.has("padding")) return how;
  const Json json = file.at("padding");
  const Json strategy = json.at("strategy");
  if (strategy.value.is_string() && strategy.value.get<std::string>() == "BatchLongest") how.mode = Tokenizer::Padding::longest;
  else how.mode = Tokenizer::Padding::fixed, how.length = static_cast<int>(strategy.number("Fixed", 0, 1 << 24));
  how.multiple = static_cast<int>(json.number("pad_to_multiple_of", 0, 1 << 24, 1));
  how.id = static_cast<std::int32_t>(json.number("pad_id", 0, INT32_MAX, 0));
  how.type = static_cast<std::int32_t>(json.number("pad_type_id", 0, INT32_MAX, 0));
  how.on_left = is_left(json);
  return how;
}

int padded_length(const Padding& how, std::size_t longest) {
  const int length = how.mode == Tokenizer::Padding::fixed ? how.length : static_cast<int>(longest);
  return how.multiple > 1 ? (length + how.multiple - 1) / how.multiple * how.multiple : length;
}

void pad(const Padding& how, int length, Encoding& encoding) {
  if (encoding.size() >= static_cast<std::size_t>(length)) return;
  const std::size_t count = static_cast<std::size_t>(length) - encoding.size();
  insert(encoding.ids, how.on_left, count, how.id), insert(encoding.types, how.on_left, count, how.type);
  insert(encoding.mask, how.on_left, count, 0), insert(encoding.special, how.on_left, count, 1);
  insert(encoding.begins, how.on_left, count, 0), insert(encoding.ends, how.on_left, count, 0);
}

}  // namespace tenfold::tokenizing
