// Types and formats of inputs and outputs, as trtexec's flags give them.
#pragma once

#include "exec_options.h"
#include "tenfold/engine.h"

namespace tenfold::cli {

void check_io_formats(const ExecOptions& options, const std::vector<BindingInfo>& bindings);   // throws UsageError

}  // namespace tenfold::cli
