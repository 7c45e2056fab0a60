// --metric='COMMAND {reference} {candidate}': an error by a program of the user's.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "tenfold/quantize.h"

namespace tenfold::cli {

bool is_metric_command(const std::string& metric);   // names of metrics hold no braces
// For ErrorBudget::measure. {reference} and {candidate} become the paths of two .npz, whose arrays have the outputs' names; samples lie
// along the first axis, and where their shapes differ each is an array of its own, "NAME/0". The last line that the command prints is
// the error. Calls throw Error(io) with the command where it ends with another status than 0, prints no number, or runs longer than
// `seconds`; it is killed then, with what it started. Throws UsageError where one of the two paths is not asked for.
std::function<double(std::span<const OutputSet>, std::span<const OutputSet>)> metric_by_command(const std::string& command, double seconds);

}  // namespace tenfold::cli
