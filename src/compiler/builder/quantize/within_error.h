// Which products of a file stay in floats, so that the file is within BuildConfig::budget.
#pragma once

#include <string>
#include <vector>

#include "builder/quantize/rewriting.h"

namespace tenfold::builder {

struct FileProduct {
  std::size_t place = 0;
  std::string name, op;
};

// As few as a search finds that begins near what is predicted: the products that cost most when they alone are narrow are the first to stay
// in floats. Each file that is
// tried is made, read and run, on the samples that gave no ranges. `type`: what the report calls a narrow product. Throws invalid_argument
// for a budget without data or bounds, unsupported where no file with a narrow product is within the budget.
Places kept_in_floats(const ir::Graph& source, const BuildConfig& config, const std::vector<FileProduct>& products, const std::string& type,
                      const std::function<Engine(const Places& in_floats)>& engine_with, BudgetReport& report);

}  // namespace tenfold::builder
