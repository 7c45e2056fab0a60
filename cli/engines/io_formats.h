// --inputIOFormats and --outputIOFormats: types and orders of inputs and outputs, as trtexec spells them.
#pragma once

#include "engines/exec_options.h"
#include "tenfold/engine.h"

namespace tenfold::cli {

// Of a model that is to be built: formats by name, and the shapes of the flags, which are the model's as in trtexec, in the order that the
// engine's inputs will have. Throws UsageError.
void resolve_io_formats(ExecOptions& options);
// Of a plan that is loaded: it has the types that the flags name. Throws UsageError.
void check_io_formats(const ExecOptions& options, const std::vector<BindingInfo>& bindings);

}  // namespace tenfold::cli
