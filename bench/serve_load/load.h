// Load: calls over many connections in one thread, as fast as answers come (closed loop) or at their times (open loop).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "histogram.h"
#include "requests.h"

namespace tenfold::load {

struct LoadOptions {
  bool grpc = false;
  std::string host = "127.0.0.1";
  int port = 0;
  int clients = 1;                 // connections; open loop: the most of them
  double rate = 0;                 // calls a second, with exponential gaps; 0: closed loop
  double seconds = 1, warmup = 0;  // answers in the warm-up are not counted
  std::uint64_t count = 0;         // ends after as many calls, too; 0: by time alone
  double drop = 0;                 // share of calls whose client leaves: in the middle of the request, or while it waits
  double drop_within_ms = 10;      // after so long at most
  std::uint64_t seed = 1;
  bool shuffle = false;            // requests in random order
  bool say_when_warm = false;      // a line on stderr when each client has had an answer
  bool retire = false;             // a client whose connection the server has ended makes no other
};

struct Results {
  Histogram ok, refused;           // latencies; open loop: from the time at which the call was due
  // Of requests with a timeout that were refused: how long after it, and how many before it, by a full queue for one.
  Histogram late;
  std::uint64_t early = 0, refused_untimed = 0;   // the second: without a timeout
  std::uint64_t sent = 0, wrong = 0, failed = 0, lost = 0, dropped = 0, unanswered = 0;
  std::map<int, std::uint64_t> statuses;
  std::string first_wrong, first_failed;
  double seconds = 0;              // that were counted
  std::uint64_t connections = 0;   // that were made
};

Results run_load(const LoadOptions& options, const std::vector<Request>& requests);

}  // namespace tenfold::load
