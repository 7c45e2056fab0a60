// The supervisor: a process that holds the sockets and has workers serve them. It loads no model, so nothing of a model can end it.
#pragma once

#include <string>
#include <vector>

#include "process/sockets.h"

namespace tenfold::server {

// `line` is this process's command line, the program's name first, which is that of the workers, too. Returns the process's exit code.
int supervise(const cli::ServeOptions& options, const std::vector<std::string>& line, Sockets sockets);

}  // namespace tenfold::server
