// TensorRT's calibration cache: a head that names version and algorithm, then a line for each value, "name: 3c010a14", whose digits are the
// bits of a float, its largest magnitude by 127. Zero: no range.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quant/place_qdq.h"

namespace tenfold::quant {

struct CalibrationCache {
  std::string head;                                   // "TRT-101600-EntropyCalibration2"
  std::vector<std::pair<std::string, float>> scales;  // in the order of the file
};

// `what` names the file in messages. Throws io: no such head, a line without a colon or with other digits, a scale that is negative,
// infinite or no number, a name twice. Leading zeros may be left out; the name ends at the last colon.
CalibrationCache read_calibration_cache(std::string_view text, const std::string& what);
std::string write_calibration_cache(const CalibrationCache& cache);   // as TensorRT writes: no leading zeros

// Ranges of these values of the graph. A cache has magnitudes alone: a value that cannot be negative has a range from zero on.
Ranges ranges_of(const CalibrationCache& cache, const ir::Graph& graph, const std::set<std::string>& requested);
CalibrationCache cache_of(const Ranges& ranges, std::string_view method);

}  // namespace tenfold::quant
