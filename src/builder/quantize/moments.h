// Sums of products of the elements of products' data, by which rounding weights makes good for itself.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "builder/builder.h"

namespace tenfold::builder {

// f32[size,size] of data whose rows have so many elements; its upper half is filled.
struct Moments {
  std::int64_t size = 0;
  std::vector<float> sums;
};

// Runs the calibration's samples 0, 2, 4 and so on, again and again where memory does not hold the moments of all values at once, and
// gives `use` those of each, several at a time. `sizes`: values of f32, and the length of their rows. A value that a pass took away is not
// seen. The number of samples; throws as calibrated() does.
int each_moments(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const BuildConfig& config,
                 const std::map<std::string, std::int64_t>& sizes, const std::function<void(const std::string&, const Moments&)>& use);

}  // namespace tenfold::builder
