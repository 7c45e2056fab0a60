// Writing whole files, as the library writes plans and caches.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tenfold/export.h"

namespace tenfold {

// The path names the old content until the new one has reached the disk, then that; a failure or a kill leaves the old. Symbolic links
// are followed; devices and pipes are written as they are. Throws Error(io) with the path and the system's reason.
TENFOLD_API void write_file(const std::string& path, std::span<const std::byte> bytes);
TENFOLD_API void write_file(const std::string& path, std::string_view text);

}  // namespace tenfold
