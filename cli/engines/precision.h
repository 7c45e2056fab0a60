// Flags that say which types a plan may compute in, and what a build tells of them.
#pragma once

#include "engines/exec_options.h"

namespace tenfold::cli {

void add_precision_flags(Flags& flags, ExecOptions& options);
// Once all flags are known: what excludes what, and what --stronglyTyped leaves of the others. Throws UsageError.
void check_precision(ExecOptions& options);
// How many layers compute in each type, and which permission was not used for what reason.
void report_precision(const ExecOptions& options, const BuildReport& report);

}  // namespace tenfold::cli
