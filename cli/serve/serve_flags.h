// The flags of `tenfold serve`. The verb shows them, and the program tenfold-server parses them.
#pragma once

#include "flags/flags.h"
#include "serve/flags/options.h"

namespace tenfold::cli {

Flags make_serve_flags(ServeOptions& options);   // it refers to `options`
// What no single flag can tell. Throws UsageError.
void check_serve(const ServeOptions& options, const std::vector<std::string>& words);

}  // namespace tenfold::cli
