// From options to models that answer, and to the end.
#pragma once

#include <string>

#include "serve/serve_flags.h"

namespace tenfold::server {

// Returns the process's exit code, after SIGTERM or SIGINT. Throws Error for what cannot be opened.
int serve(const cli::ServeOptions& options, const std::string& path);

}  // namespace tenfold::server
