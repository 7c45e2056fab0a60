// The other end of a build in the background (tenfold/model_engines.h): the part that the program `tenfold` does for
// the process that asks.
#pragma once

#include "tenfold/export.h"

namespace tenfold {

// Reads a request from the file `request`, builds, writes the plan into the file `plan`, and writes log and errors as
// lines to `answers`. All three are open descriptors. It ends when the process that asked ends. Returns whether the
// plan is there.
TENFOLD_API bool answer_build_request(int request, int plan, int answers) noexcept;

}  // namespace tenfold
