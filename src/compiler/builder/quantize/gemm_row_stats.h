// Second moments of products' data, from a calibration's samples.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "builder/builder.h"
#include "quant/weights/moments.h"

namespace tenfold::builder {

// Runs the calibration's samples 0, 2, 4 and so on, again and again where memory does not hold the moments of all values at once, and
// gives `use` those of each, several at a time. `sizes`: values of f32, and the length of their rows. A value that a pass took away is not
// seen. The number of samples; throws as calibrated() does.
int each_moments(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const BuildConfig& config,
                 const std::map<std::string, std::int64_t>& sizes,
                 const std::function<void(const std::string&, const quant::Moments&)>& use);

}  // namespace tenfold::builder
