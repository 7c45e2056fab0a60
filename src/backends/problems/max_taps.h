// How large a window may be.
#pragma once

#include <cstdint>

namespace tenfold::backends {

// Places of a window that a CPU's convolutions take; rules make larger ones into products or sums.
inline constexpr std::int64_t kMaxTaps = 512;

}  // namespace tenfold::backends
