// Logs, metrics and traces from flags.
#pragma once

#include "serve/serve_flags.h"

namespace tenfold::server {

// Of the log alone, for a process that serves nothing. Throws Error(io) for the file.
void set_log_options(const cli::ObserveFlags& flags);

// Of the process, from here to its destructor, which sends the traces that wait.
class Observing {
 public:
  explicit Observing(const cli::ObserveFlags& flags);  // throws cli::UsageError, Error(io) for the log file
  ~Observing();
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;
};

}  // namespace tenfold::server
