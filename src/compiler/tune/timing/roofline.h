// Roofline: a time that no tactic can beat, from its work and the bytes it moves, and the rates at which this machine does both.
#pragma once

#include <optional>

#include "tune/timing/timer.h"

namespace tenfold::tune {

struct MinTime {
  double ns = 0;        // 0: nothing is known
  bool bytes = false;   // what takes this long: moving bytes, or else work
};

class Roofline {
 public:
  Roofline(const backends::Backend& backend, Timer& timer) : backend_(backend), timer_(timer) {}
  // What `tactic` takes at least for `fixed`, a problem of constant extents. The rates are those of a large float product and of sums
  // over operands in a cache and in memory, measured once and kept in the timing cache like any other time, with a margin each.
  MinTime min_time(const backends::Tactic& tactic, const backends::Problem& fixed, const backends::Config& config);
  // A time was measured: where it beats the least, a rate was found too low (the machine was busy meanwhile), and is raised.
  void learn(const backends::Tactic& tactic, const backends::Problem& fixed, const backends::Config& config, double ns);

 private:
  double work_ns(const backends::Tactic& tactic, const backends::Problem& fixed);
  double bytes_ns(const backends::Tactic& tactic, const backends::Problem& fixed, const backends::Config& config);
  double operations_per_ns();
  double bytes_per_ns(bool from_memory);

  const backends::Backend& backend_;
  Timer& timer_;
  std::optional<double> rate_, cache_rate_, memory_rate_;
};

}  // namespace tenfold::tune
