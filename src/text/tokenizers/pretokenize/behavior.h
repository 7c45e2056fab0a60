// What becomes of a match where a text is parted.
#pragma once

#include "text/tokenizers/patterns/pattern.h"

namespace tenfold::tokenizing {

enum class Behavior : std::uint8_t { removed, isolated, merged_with_previous, merged_with_next, contiguous };
Behavior read_behavior(const Json& json);   // of "behavior"

// Appends the words that the matches, which cover the text, make of it.
void part(Word text, Behavior behavior, const std::vector<Match>& matches, std::vector<Word>& words);

}  // namespace tenfold::tokenizing
