// The path of a request's target, as the router and the checks before it see it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::server {

// The parts between slashes, without the query, decoded; a slash at the end is none. Nothing: it does not begin with '/', or has a '%'
// without two digits.
std::optional<std::vector<std::string>> path_parts(std::string_view target, std::string* why = nullptr);

}  // namespace tenfold::server
