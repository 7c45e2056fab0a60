// The rows of `tenfold serve`'s flags that are about the processes of the server.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_process_rows(Flags& flags, ProcessFlags& options) {
  flags.group("Processes");
  flags.add_switch("no-supervisor", options.no_supervisor, "one process, which nothing starts again where it dies");
  add_choice(flags, "probe", options.probe, {"ready", "live"},
             "asks the server that has these flags, on this machine, and ends with 0 or 1: for health checks");
}

}  // namespace tenfold::cli
