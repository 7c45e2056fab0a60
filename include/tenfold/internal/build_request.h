// The other end of a build in the background (tenfold/model_engines.h): what the program `tenfold` does for the process
// that asks.
#pragma once

#include "tenfold/export.h"

namespace tenfold {

// Reads a request from the file `request`, builds, writes the plan into the file `plan`, and tells log and errors in
// lines to `answers` (all open descriptors). Ends with the process that asked. Returns whether the plan is there;
// throws nothing.
TENFOLD_API bool answer_build_request(int request, int plan, int answers) noexcept;

}  // namespace tenfold
