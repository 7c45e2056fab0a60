// --probe: asks the server on this machine whether it is well, for health checks of containers and service managers.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "net/request_http.h"
#include "serve/serve_flags.h"

namespace tenfold::server {

// The port that has the server's health, as flags have it: HTTP's, else that of metrics. Nothing: it has neither.
std::optional<RequestedPort> health_port(const cli::ServeOptions& options);
// "ready" or "live". Empty: it is. Else a line that says why not. Throws Error for flags that the server would refuse.
std::string request_health(const RequestedPort& port, const std::string& what, const cli::SecurityFlags& security,
                       std::chrono::milliseconds patience);

// The exit code: 0, or 1 with a line on stderr. Throws UsageError where flags name no port.
int probe(const cli::ServeOptions& options);

}  // namespace tenfold::server
