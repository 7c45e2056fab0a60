// Verbs whose work is the Python package's.
#pragma once

#include <string>

#include "verbs.h"

namespace tenfold::cli {

// main() of `module` takes this process's place, with the arguments as they are; its number is the exit code. TENFOLD_PYTHON names the
// Python. `verb` and `packages` (for pip) are for the message where the module cannot be imported.
[[noreturn]] void run_in_python(const std::string& verb, const std::string& module, const std::string& packages,
                                const Arguments& arguments);

}  // namespace tenfold::cli
