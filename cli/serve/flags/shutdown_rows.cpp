// The rows of `tenfold serve`'s flags that are about the end of the server.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_shutdown_rows(Flags& flags, ShutdownFlags& options) {
  flags.group("Shutdown");
  add_number(flags, "exit-delay-secs", options.delay_s, 0, 3600,
             "between SIGTERM, at which it is not ready any more, and the last request (0)");
  add_number(flags, "exit-timeout-secs", options.timeout_s, 0, 3600, "how long accepted requests may take then (30)");
}

}  // namespace tenfold::cli
