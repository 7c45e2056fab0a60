// From the patterns of the reference (Oniguruma's Ruby syntax) to PCRE2's.
#pragma once

#include <string>

#include "text/json.h"

namespace tenfold::tokenizing {

// Classes are spelled out as ranges. Throws unsupported for what cannot be translated, with its place.
std::string for_pcre2(const std::string& regex, const Json& where);

}  // namespace tenfold::tokenizing
