// A configuration of C as C++ has it, for the C interfaces of other libraries than the builder's.
#pragma once

#include "tenfold/build.h"
#include "tenfold/c/build.h"

namespace tenfold::c {

TENFOLD_API BuildConfig config_of(const tenfold_build_config* given);   // null: all defaults; throws invalid_argument

}  // namespace tenfold::c
