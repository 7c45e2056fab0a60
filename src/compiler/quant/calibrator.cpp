#include "quant/calibrator.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tenfold/error.h"

namespace tenfold::quant {

Calibrator calibrate_entropy();
Calibrator calibrate_minmax();
Calibrator calibrate_mse();
Calibrator calibrate_percentile();

const std::vector<Calibrator>& calibrators() {
  static const std::vector<Calibrator> all{calibrate_entropy(), calibrate_minmax(), calibrate_mse(), calibrate_percentile()};
  return all;
}

const Calibrator& calibrator(std::string_view name) {
  std::string names;
  for (const Calibrator& c : calibrators()) {
    if (c.name == name) return c;
    names += (names.empty() ? "" : ", ") + std::string(c.name);
  }
  throw Error(ErrorKind::invalid_argument, "there is no calibrator '" + std::string(name) + "'; there are " + names + " and " +
                                           std::string(kDynamic));
}

double squared_error(const Histogram& histogram, const Grid& grid, const Range& range) {
  if (histogram.count() == 0) return 0;
  const double high = grid.symmetric ? std::max(range.high, -range.low) : range.high, low = grid.symmetric ? -high : range.low;
  const double step = (high - low) / (grid.levels - 1);
  double sum = 0;   // zeros are exact
  for (std::size_t b = 0; b < histogram.bins().size(); ++b) {
    if (histogram.bins()[b] == 0) continue;
    const double x = histogram.center(static_cast<int>(b)), outside = x > high ? x - high : x < low ? low - x : 0;
    sum += static_cast<double>(histogram.bins()[b]) * (outside > 0 ? outside * outside : step * step / 12);
  }
  return sum / static_cast<double>(histogram.count());
}

}  // namespace tenfold::quant
