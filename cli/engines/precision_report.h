// --precisionReport: what a search within an error budget found, as a page with pictures and as JSON.
#pragma once

#include <string>

#include "engines/exec_options.h"

namespace tenfold::cli {

// FILE.html, a page of its own without scripts and other files, and FILE.json beside it. Throws Error(io).
void write_precision_report(const std::string& path, const ExecOptions& options, const BudgetReport& report);
std::string json_beside(const std::string& path);

// SVG, each with the words that it needs.
std::string sensitivity_picture(const BudgetReport& report, double max_error);   // a bar for each layer, in the model's order
std::string pareto_picture(const BudgetReport& report, double max_error);        // time and error of each plan, and the budget
std::string precision_map(const BudgetReport& report);                           // the type of each layer in the plan that was taken

// For text and attributes of HTML.
std::string html(const std::string& text);
const char* color_of(DType type);

}  // namespace tenfold::cli
