// Opening a device beside what else there is to do: a GPU's driver takes a third of a second to start.
#pragma once

#include <future>
#include <memory>

#include "backends/backend.h"
#include "tenfold/build.h"

namespace tenfold::builder {

using OpeningDevice = std::future<std::shared_ptr<backends::Backend>>;

// get() throws what open_backend() throws. `config` lives until then.
OpeningDevice open_aside(const BuildConfig& config);

}  // namespace tenfold::builder
