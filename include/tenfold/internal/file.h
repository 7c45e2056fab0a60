// Writes whole files, as the library writes plans and caches.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tenfold/export.h"

namespace tenfold {

// The path names the old content until the new content has reached the disk. A failure or a kill leaves the old
// content. Symbolic links are followed. Devices and pipes are written in place. Throws Error(io) with the path and the
// system's reason.
TENFOLD_API void write_file(const std::string& path, std::span<const std::byte> bytes);
TENFOLD_API void write_file(const std::string& path, std::string_view text);

}  // namespace tenfold
