// Classes of characters in patterns, as ranges of the reference's tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenfold::tokenizing {

using Ranges = std::vector<std::pair<char32_t, char32_t>>;   // sorted; first and last of each

// Of "L", "Lu", "Letter", "Han", "Alphabetic", "Word" ...; in any case, without spaces, hyphens and underscores.
std::optional<Ranges> class_named(std::string_view name);
Ranges others_than(const Ranges& ranges);
std::string spelled_out(const Ranges& ranges);   // for use between brackets

}  // namespace tenfold::tokenizing
