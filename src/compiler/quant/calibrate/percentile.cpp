// percentile: all but one element in ten thousand; half of those at each end where both signs occur.
#include <algorithm>

#include "quant/calibrator.h"

namespace tenfold::quant {
namespace {

constexpr double kOutside = 1e-4;

// The outer edge of the bin, counted from that end, where more than `beyond` elements have been passed.
double edge(const Histogram& h, double beyond, bool from_above) {
  const int bins = static_cast<int>(h.bins().size());
  double passed = 0;
  for (int i = 0; i < bins; ++i) {
    const int b = from_above ? bins - 1 - i : i;
    passed += static_cast<double>(h.bins()[static_cast<std::size_t>(b)]);
    if (passed > beyond) return h.center(b) + (from_above ? 0.5 : -0.5) * h.width();
  }
  return 0;
}

Range range(const Histogram& h, const Grid&) {
  const double outside = kOutside * static_cast<double>(h.count()) / (h.low() < 0 && h.high() > 0 ? 2 : 1);
  return {std::clamp(edge(h, outside, false), h.low(), 0.0), std::clamp(edge(h, outside, true), 0.0, h.high())};
}

}  // namespace

Calibrator calibrate_percentile() { return {"percentile", range}; }

}  // namespace tenfold::quant
