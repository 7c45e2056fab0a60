// entropy: the range whose quantized distribution of magnitudes differs least from the real one, by Kullback and Leibler's divergence
// (Migacz 2017, "8-bit inference with TensorRT"). 2,048 bins for 128 levels: with as many bins as levels nothing would ever be clipped.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "quant/calibrator.h"

namespace tenfold::quant {
namespace {

// What magnitudes look like in `levels` numbers over the first `used` bins: the elements of a level are spread evenly over those of its
// bins that have any.
std::vector<double> quantized(const std::vector<double>& magnitudes, int used, int levels) {
  std::vector<double> result(static_cast<std::size_t>(used), 0);
  for (int level = 0; level < levels; ++level) {
    const int begin = level * used / levels, end = (level + 1) * used / levels;
    double sum = 0;
    int filled = 0;
    for (int b = begin; b < end; ++b) sum += magnitudes[static_cast<std::size_t>(b)], filled += magnitudes[static_cast<std::size_t>(b)] > 0;
    for (int b = begin; b < end; ++b)
      if (magnitudes[static_cast<std::size_t>(b)] > 0) result[static_cast<std::size_t>(b)] = sum / filled;
  }
  return result;
}

// Of P, whose last bin has what lies beyond it, from Q; both are normalized here. Infinite where Q has nothing and P has something.
double divergence(const std::vector<double>& magnitudes, int used, double beyond, int levels) {
  const std::vector<double> q = quantized(magnitudes, used, levels);
  double p_sum = beyond, q_sum = 0, result = 0;
  for (int b = 0; b < used; ++b) p_sum += magnitudes[static_cast<std::size_t>(b)], q_sum += q[static_cast<std::size_t>(b)];
  if (q_sum == 0) return std::numeric_limits<double>::infinity();
  constexpr double kLittle = 1e-9;   // for a last bin that is empty but for what lies beyond
  for (int b = 0; b < used; ++b) {
    const double p = (magnitudes[static_cast<std::size_t>(b)] + (b + 1 == used ? beyond : 0)) / p_sum;
    if (p > 0) result += p * std::log(p / std::max(q[static_cast<std::size_t>(b)] / q_sum, kLittle));
  }
  return result;
}

Range range(const Histogram& h, const Grid& grid) {
  if (h.bins().empty()) return {h.low(), h.high()};
  constexpr int kStep = 8;
  const int levels = grid.symmetric || h.low() < 0 ? grid.levels / 2 : grid.levels;   // on either side of zero
  std::vector<double> magnitudes(Histogram::kBins, 0);
  for (int b = 0; b < Histogram::kBins; ++b)
    magnitudes[static_cast<std::size_t>(b)] = static_cast<double>(h.bins()[static_cast<std::size_t>(Histogram::kBins + b)] +
                                                                  h.bins()[static_cast<std::size_t>(Histogram::kBins - 1 - b)]);
  double beyond = 0, min = std::numeric_limits<double>::infinity();
  int best = Histogram::kBins;
  for (int used = Histogram::kBins; used >= levels; used -= kStep) {
    if (const double d = divergence(magnitudes, used, beyond, levels); d < min) min = d, best = used;
    for (int b = used - kStep; b < used; ++b) beyond += magnitudes[static_cast<std::size_t>(b)];
  }
  const double threshold = best * h.width();
  return {std::max(h.low(), -threshold), std::min(h.high(), threshold)};
}

}  // namespace

Calibrator calibrate_entropy() { return {"entropy", range}; }

}  // namespace tenfold::quant
