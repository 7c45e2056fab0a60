// How a plan is loaded that stands for a build: from the cache, from another process.
#pragma once

#include "tenfold/build.h"

namespace tenfold::builder {

LoadOptions load_options(const BuildConfig& config);

}  // namespace tenfold::builder
