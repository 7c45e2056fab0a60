// The options of a build that a plan keeps, for people.
#pragma once

#include <string>

#include "tenfold/export.h"

namespace tenfold {

// "fp16=1 tf32=0 level=3 threads=2; pass x off" becomes "fp16, no tf32, threads 2; pass x off": what is as by default is left out.
TENFOLD_API std::string options_shown(const std::string& options);

}  // namespace tenfold
