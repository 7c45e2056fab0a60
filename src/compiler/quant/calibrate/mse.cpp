// mse: the range with the least mean squared error of rounding (Choukroun et al. 2019, arXiv 1902.06822; compared with others by Wu et
// al. 2020, arXiv 2004.09602).
#include <algorithm>

#include "quant/calibrator.h"

namespace tenfold::quant {
namespace {

// Both ends shrink together first, then each by itself, around what was best so far.
Range range(const Histogram& h, const Grid& grid) {
  constexpr int kSteps = 100;
  const Range all{h.low(), h.high()};
  Range best = all;
  double min = squared_error(h, grid, all);
  const auto consider = [&](const Range& r) {
    if (const double error = squared_error(h, grid, r); error < min) min = error, best = r;
  };
  for (int i = 5; i < kSteps; ++i) consider({all.low * i / kSteps, all.high * i / kSteps});
  if (grid.symmetric) return best;
  for (int i = 5; i <= kSteps; ++i) consider({best.low, all.high * i / kSteps});
  for (int i = 5; i <= kSteps; ++i) consider({all.low * i / kSteps, best.high});
  return best;
}

}  // namespace

Calibrator calibrate_mse() { return {"mse", range}; }

}  // namespace tenfold::quant
