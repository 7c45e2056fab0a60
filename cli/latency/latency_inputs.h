// What `tenfold latency` asks.
#pragma once

#include <cstddef>
#include <vector>

#include "tenfold/low_latency.h"

namespace tenfold::cli {

// Messages with random values, one for each stream. Where the engine computes before the newest row of a window, there are
// several for each stream: each one's rows are those of the one before it, moved up by one, the first one's those of the last.
class LatencyInputs {
 public:
  LatencyInputs(const LatencyRunner& runner, int streams);
  const std::vector<const void*>& pointers() const { return pointers_; }   // streams in turn

 private:
  std::vector<std::vector<std::byte>> messages_;
  std::vector<const void*> pointers_;
};

}  // namespace tenfold::cli
