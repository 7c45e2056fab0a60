// The flags of `tenfold serve`. The verb shows them, and the program tenfold-server parses them.
#pragma once

#include "flags/flags.h"
#include "serve/flags/options.h"

namespace tenfold::cli {

Flags make_serve_flags(ServeOptions& options);   // it refers to `options`

}  // namespace tenfold::cli
