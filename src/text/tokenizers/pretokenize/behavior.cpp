#include "text/tokenizers/pretokenize/behavior.h"

#include <algorithm>

namespace tenfold::tokenizing {
namespace {

constexpr std::string_view kNames[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};

// Whether a stretch goes on the one that came before it.
bool joins(Behavior behavior, bool is_match, bool previous) {
  if (behavior == Behavior::isolated) return false;
  return behavior == Behavior::contiguous ? is_match == previous : is_match && !previous;
}

}  // namespace

Behavior read_behavior(const Json& json) {
  const std::string name = json.text("behavior");
  const auto at = std::find(std::begin(kNames), std::end(kNames), name);
  if (at == std::end(kNames))
    json.wrong("the behavior '" + name + "' is none of Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous");
  return static_cast<Behavior>(at - std::begin(kNames));
}

void part(Word text, Behavior behavior, const std::vector<Match>& matches, std::vector<Word>& words) {
  const auto put = [&](std::size_t begin, std::size_t end) {
    if (end > begin) words.push_back(text.subspan(begin, end - begin));
  };
  if (behavior == Behavior::removed) {
    for (const Match& one : matches)
      if (!one.is_match) put(one.begin, one.end);
    return;
  }
  const bool backwards = behavior == Behavior::merged_with_next;
  const std::size_t first = words.size();
  std::size_t begin = 0, end = 0;
  bool is_open = false, previous = false;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Match& one = matches[backwards ? matches.size() - 1 - i : i];
    if (is_open && joins(behavior, one.is_match, previous)) {
      (backwards ? begin : end) = backwards ? one.begin : one.end;
    } else {
      if (is_open) put(begin, end);
      begin = one.begin, end = one.end, is_open = true;
    }
    previous = one.is_match;
  }
  if (is_open) put(begin, end);
  if (backwards) std::reverse(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
}

}  // namespace tenfold::tokenizing
