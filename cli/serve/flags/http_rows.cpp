// The rows of `tenfold serve`'s flags that are about HTTP and the port of metrics.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_http_rows(Flags& flags, HttpFlags& options) {
  flags.group("Network");
  add_listener(flags, "http", "HTTP", {options.enabled, options.address, options.port},
               "where HTTP listens; 0.0.0.0: on all addresses (127.0.0.1)", "of HTTP; 0: a free one (8000)");
  add_number(flags, "http-thread-count", options.threads, 0, 1024, "threads of the network; 0: as many as processors, 8 at most (0)");
  flags.add({"http-max-input-size", "BYTES", "the largest body of a request, also when it is decompressed (67108864)",
             [&options](const std::string& text) { options.body_bytes = parse_int("http-max-input-size", text, 1); }});
  add_number(flags, "max-connections", options.connections, 1, 1'000'000, "that are open at the same time (10000)");
  add_listener(flags, "metrics", "metrics", {options.metrics, options.metrics_address, options.metrics_port}, "default: that of HTTP",
               "of /metrics, which HTTP's port answers, too; 0: a free one (8002)");
}

}  // namespace tenfold::cli
