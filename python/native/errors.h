// Errors on their way to Python: kinds as the classes of tenfold/errors.py, run statuses with the step that they concern.
#pragma once

#include <string>

#include "native.h"
#include "tenfold/error.h"

namespace tenfold::python {

// Raises the class of the kind. `step`: of a run, as describe() names it; empty: none.
[[noreturn]] void raise_error(ErrorKind kind, const std::string& message, const std::string& step = "");
[[noreturn]] void raise_type_error(const std::string& message);
// The status of a run or of a call of a context, whose describe() is given.
[[noreturn]] void raise_status(Status status, const std::string& description);

}  // namespace tenfold::python
