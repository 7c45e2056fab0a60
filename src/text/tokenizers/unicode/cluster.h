// Characters that are read as one (UAX #29, extended grapheme clusters), as far as the reference's Precompiled can tell them.
#pragma once

#include "text/chars.h"

namespace tenfold::tokenizing {

// Where the cluster that begins at `at` ends. Flags are not put together: each of their halves is too long to matter.
std::size_t cluster_end(std::span<const Char> text, std::size_t at);

}  // namespace tenfold::tokenizing
