// The version of the Tenfold library that is linked.
#pragma once

#include <string_view>

#include "tenfold/export.h"

namespace tenfold {

TENFOLD_API std::string_view version();   // "0.1.0"

}  // namespace tenfold
