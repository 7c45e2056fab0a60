// From options to models that answer, and to the end.
#pragma once

#include <string>

#include "process/worker_start.h"
#include "serve/serve_flags.h"

namespace tenfold::server {

// Returns the process's exit code, after SIGTERM or SIGINT, or when the supervisor ends it. Throws Error for what cannot be opened.
int serve(const cli::ServeOptions& options, const std::string& path, WorkerStart start);

}  // namespace tenfold::server
