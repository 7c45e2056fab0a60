// Calibrators: which range of a value its 8 bits are to cover, by how its elements are spread. One file each in calibrate/.
#pragma once

#include <string_view>
#include <vector>

#include "quant/histogram.h"

namespace tenfold::quant {

// What 8 bits cover; low <= 0 <= high. What lies outside is rounded to its ends.
struct Range {
  double low = 0, high = 0;
  bool operator==(const Range&) const = default;
};

// What a range is for: `levels` numbers that lie evenly, 256 of them, or 255 around zero.
struct Grid {
  int levels = 256;
  bool symmetric = false;   // -low = high is what is used of a range
};

struct Calibrator {
  std::string_view name;
  Range (*range)(const Histogram& histogram, const Grid& grid);   // {0, 0} for a histogram without elements other than zero
};
// Of Calibration::method, beside these: no range at all, products quantize their rows as they run.
inline constexpr std::string_view kDynamic = "dynamic";
const std::vector<Calibrator>& calibrators();
const Calibrator& calibrator(std::string_view name);   // throws invalid_argument naming those that there are

// The mean squared error of elements that are rounded to a grid over this range.
double squared_error(const Histogram& histogram, const Grid& grid, const Range& range);

}  // namespace tenfold::quant
