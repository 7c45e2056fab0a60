// exec --sweep: runs of several batches, one after the other, and which of them gives most.
#pragma once

#include <vector>

#include "data/inputs.h"
#include "engines/engines.h"

namespace tenfold::cli {

struct BatchFigures {
  std::int64_t batch = 0;
  double median_ms = 0, p99_ms = 0;
  double runs_per_second = 0, samples_per_second = 0;
};
struct BatchSweep {
  std::vector<BatchFigures> rows;      // in the order of the flag
  std::size_t best = 0;                // the row with most samples a second
};

void add_sweep_flag(Flags& flags, ExecOptions& options);
void check_sweep(const ExecOptions& options);   // against other flags; throws UsageError
// Before a build: where no flag gives ranges, each batch gets a profile, so that its kernels are tuned for it. Throws UsageError.
void add_sweep_profiles(ExecOptions& options);
// Measures all batches, prints their table, and gives `options` the shape of the best. Throws UsageError where no profile takes a batch.
BatchSweep sweep_batches(ExecOptions& options, const Made& made, const InputFiles& files);

}  // namespace tenfold::cli
