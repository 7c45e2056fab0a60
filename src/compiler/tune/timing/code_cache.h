// The file of compiled kernels beside a timing cache. Shared by processes; never a reason to fail; safe to delete.
#pragma once

#include <string>

#include "backends/code.h"
#include "base/log.h"

namespace tenfold::tune {

// "<timing cache>.kernels"; empty if there is no timing cache.
std::string code_cache_path(const std::string& timing_cache);
// A missing file is an empty list.
backends::CodeList load_code(const std::string& path, const Log& log = {});
// Merges with what other processes have written meanwhile, under a lock, and replaces the file atomically.
void save_code(const std::string& path, const backends::CodeList& list, const Log& log = {});

}  // namespace tenfold::tune
