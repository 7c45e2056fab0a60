// Deflated bytes, as compressed .npz archives have them, by the system's zlib.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenfold::formats {

// The `full` bytes that `deflated` stands for. Throws Error(io), beginning with `what`, where it stands for others or is damaged, and where
// zlib is missing.
std::string inflated(std::string_view deflated, std::uint64_t full, const std::string& what);

}  // namespace tenfold::formats
