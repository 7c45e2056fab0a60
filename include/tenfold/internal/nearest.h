// Finds the name that somebody may have meant, for messages about an unknown name.
#pragma once

#include <string>
#include <vector>

#include "tenfold/export.h"

namespace tenfold {

// The candidate with the fewest edits from `word`, whatever its case. Empty if none is near.
TENFOLD_API std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace tenfold
