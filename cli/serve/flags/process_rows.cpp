// The rows of `tenfold serve`'s flags that are about the processes of the server.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_process_rows(Flags& flags, ProcessFlags& options) {
  flags.group("Processes");
  flags.add_switch("no-supervisor", options.no_supervisor, "one process, which nothing starts again where it dies");
}

}  // namespace tenfold::cli
