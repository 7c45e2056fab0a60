// Byte pair encoding's loop (Sennrich et al. 2016): the pair of neighbors of the lowest rank becomes one, until none can.
#pragma once

#include "text/tokenizers/models/pair_table.h"

namespace tenfold::tokenizing {

struct Symbol {
  std::int32_t id;
  std::uint32_t length;   // in what the caller counts
};
// O(n log n). Of pairs of one rank the leftmost is first.
void merge(const PairTable& pairs, std::vector<Symbol>& symbols);

}  // namespace tenfold::tokenizing
