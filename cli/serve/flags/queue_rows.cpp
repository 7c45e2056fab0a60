// The rows of `tenfold serve`'s flags that are about queues.
#include "serve/flags/rows.h"
#include "flags/specs.h"

namespace tenfold::cli {

void add_queue_rows(Flags& flags, QueueFlags& options) {
  flags.group("Queue");
  add_number(flags, "max-queue-size", options.size, 0, 1 << 30,
             "requests that wait; one more is answered with 503. 0: no limit (1024)");
  add_number(flags, "max-queue-delay-us", options.delay_us, 0, 60'000'000,
             "how long a request waits for others to share its batch (0)");
  flags.add({"preferred-batch", "N[,N...]", "sizes at which a batch does not wait for more",
             [&options](const std::string& text) {
               for (const std::string& one : split(text, ',')) options.preferred.push_back(parse_int("preferred-batch", one, 1, 1 << 20));
             }});
  add_number(flags, "request-timeout-us", options.timeout_us, 0, 2'000'000'000, "how long a request waits at most; 0: no limit (0)");
}

}  // namespace tenfold::cli
