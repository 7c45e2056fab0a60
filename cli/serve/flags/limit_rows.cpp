// The rows of `tenfold serve`'s flags that bound what all clients together may take.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_limit_rows(Flags& flags, LimitFlags& options) {
  flags.group("Limits");
  flags.add({"max-bytes-in-flight", "BYTES",
             "of requests, and of responses that clients have not read, over HTTP and gRPC together; more is refused. 0: a quarter of the "
             "memory that this process may have (0)",
             [&options](const std::string& text) {
               options.bytes_in_flight = static_cast<std::int64_t>(parse_number("max-bytes-in-flight", text, 0));
             }});
}

}  // namespace tenfold::cli
