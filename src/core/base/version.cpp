// The version that this build was made from.
#include "tenfold/version.h"

namespace tenfold {

std::string_view version() { return TENFOLD_VERSION; }

}  // namespace tenfold
