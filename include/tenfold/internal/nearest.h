// The name that somebody may have meant: for messages about a name that is not there.
#pragma once

#include <string>
#include <vector>

#include "tenfold/export.h"

namespace tenfold {

// The candidate with the fewest edits from `word` (upper and lower case alike), "" if none is near.
TENFOLD_API std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace tenfold
