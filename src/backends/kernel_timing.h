// KernelTiming: what the tuner asks of a device.
#pragma once

#include <vector>

#include "backends/clock.h"
#include "backends/measure.h"
#include "backends/tactic.h"

namespace tenfold::backends {

class Stream;

class KernelTiming {
 public:
  virtual ~KernelTiming() = default;
  // Nanoseconds of one launch within a budget.
  virtual double measure(Stream& stream, const Tactic& tactic, const void* kernel, const RunArgs& args, const MeasureBudget& budget) = 0;
  // Nanoseconds of reading and writing `bytes` once in another order, roughly: what the tuner adds where layouts differ.
  virtual double reformat_ns(std::int64_t bytes) const { return 300 + 0.15 * static_cast<double>(bytes); }
  // The clocks that times of kernels depend on, now or at most: what cannot be known in a fifth of a millisecond is left out.
  virtual std::vector<Clock> clocks() const { return {}; }
};

}  // namespace tenfold::backends
