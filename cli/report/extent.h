// The extent of a dim at given sizes: "2*batch*sequence + 1" at batch=8, sequence=128. The text is PlanOperand::dims_text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::cli {

using Sizes = std::map<std::string, std::int64_t, std::less<>>;  // of symbols

// Nothing where a symbol has no size here, where the text cannot be read, or where the result does not fit.
std::optional<std::int64_t> extent_at(std::string_view text, const Sizes& sizes);
// Of "batch,max(w, 3),384", one for each dim.
std::vector<std::optional<std::int64_t>> extents_at(std::string_view dims_text, const Sizes& sizes);

}  // namespace tenfold::cli
