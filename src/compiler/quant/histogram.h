// How the elements of one value are spread, over all the data that a calibration ran.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tenfold::quant {

// Bins of equal width on both sides of zero. Their reach is a power of two that doubles, so that no order of the data matters to more than
// the width of a bin; what is not finite is counted and left out.
class Histogram {
 public:
  static constexpr int kBins = 2048;   // on either side of zero

  void add(std::span<const float> values);
  std::int64_t count() const { return count_; }                       // of finite elements
  std::int64_t not_finite() const { return not_finite_; }
  double low() const { return low_; }                                 // the smallest and the largest; 0 while there are none
  double high() const { return high_; }
  double width() const { return reach_ / kBins; }
  std::span<const std::int64_t> bins() const { return bins_; }        // 2 * kBins of them; empty while all elements are zero
  double center(int bin) const { return (bin - kBins + 0.5) * width(); }
  std::int64_t zeros() const { return zeros_; }                       // which lie in no bin

 private:
  void reach_for(double magnitude);
  std::vector<std::int64_t> bins_;
  double reach_ = 0, low_ = 0, high_ = 0;
  std::int64_t count_ = 0, zeros_ = 0, not_finite_ = 0;
};

}  // namespace tenfold::quant
