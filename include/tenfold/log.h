// Messages for the user. The library never prints: it calls a function of the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tenfold {

enum class Severity : std::uint8_t { verbose, info, warning, error };
using LogCallback = std::function<void(Severity, std::string_view)>;   // may be called from any thread

}  // namespace tenfold
