// --max-error: a build within an error budget, and the table of what its search tried.
#pragma once

#include "engines/accuracy.h"
#include "engines/exec_options.h"

namespace tenfold::cli {

void add_budget_flags(Flags& flags, ExecOptions& options);
// Once all flags are known. Throws UsageError.
void check_budget(const ExecOptions& options);
// What the budget needs of other flags: a metric that is a command, and labels.
void complete_budget(BuildConfig& config, const Accuracy* accuracy);
// The table, and the report that --precisionReport asks for.
void print_budget(const ExecOptions& options, const BudgetReport& report);
std::string work_in_words(const BudgetPlan& plan);   // "i8 93 %, f32 7 %"

}  // namespace tenfold::cli
