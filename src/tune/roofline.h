// Roofline: a time that no tactic can beat, from its work and the rate at which this machine multiplies.
#pragma once

#include <optional>

#include "tune/timer.h"

namespace tenfold::tune {

class Roofline {
 public:
  Roofline(const backends::Backend& backend, Timer& timer) : backend_(backend), timer_(timer) {}
  // Nanoseconds below which `tactic` cannot run `fixed`, a problem of constant extents; 0: nothing is known. The rate is that of
  // a large float product, measured once and kept in the timing cache like any other time, with a margin for cooler moments.
  double least_ns(const backends::Tactic& tactic, const backends::Problem& fixed);

 private:
  double operations_per_ns();

  const backends::Backend& backend_;
  Timer& timer_;
  std::optional<double> rate_;
};

}  // namespace tenfold::tune
