// The flags of `tenfold serve`. The verb shows them, and the program tenfold-server parses them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flags/flags.h"

namespace tenfold::cli {

struct ServeOptions {
  bool help = false, full_help = false;
  std::string name, device, precision, tune, plan_cache_folder;   // empty: as the help says
  std::int64_t max_batch = -1;                   // -1: chosen
  int instances = 1, threads = 0;
  std::vector<std::int64_t> preferred;
  int queue_size = 1024, queue_delay_us = 0, timeout_us = 0;
  std::string http_address = "127.0.0.1", metrics_address;   // an empty one: that of HTTP
  int http_port = 8000, metrics_port = 8002, http_threads = 0, connections = 10000;
  std::int64_t body_bytes = std::int64_t{64} << 20;
  bool metrics = true;
  bool grpc = true;
  std::string grpc_address, grpc_compression = "none";   // an empty address: that of HTTP
  int grpc_port = -1;                            // -1: 8001, or a free one where HTTP takes one
  int exit_delay_s = 0, exit_timeout_s = 30;
};
Flags make_serve_flags(ServeOptions& options);   // it refers to `options`

}  // namespace tenfold::cli
