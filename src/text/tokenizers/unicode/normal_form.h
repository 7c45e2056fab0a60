// Normal forms of Unicode (UAX #15), with the places that the reference gives to what it makes.
#pragma once

#include "text/chars.h"

namespace tenfold::tokenizing {

// What a step makes of a text: a scalar, and how many it adds (1: it has no source of its own) or takes up besides its own (below 0).
struct Step {
  char32_t c;
  int change;
};
// Gives `chars` these scalars. One with a source has its place; one that is added has that of the source before it.
void replace(Chars& chars, std::span<const Step> steps);

void decompose(Chars& chars, bool compatible);   // NFD, NFKD
void compose(Chars& chars, bool compatible);     // NFC, NFKC

}  // namespace tenfold::tokenizing
