// --max-error: a build within an error budget, and the table of what its search tried.
#pragma once

#include "exec_options.h"

namespace tenfold::cli {

void add_budget_flags(Flags& flags, ExecOptions& options);
// Once all flags are known. Throws UsageError.
void check_budget(const ExecOptions& options);
void print_budget(const ExecOptions& options, const BudgetReport& report);

}  // namespace tenfold::cli
