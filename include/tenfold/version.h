// Which version of Tenfold is linked.
#pragma once

#include <string_view>

#include "tenfold/export.h"

namespace tenfold {

TENFOLD_API std::string_view version();   // "0.1.0"

}  // namespace tenfold
