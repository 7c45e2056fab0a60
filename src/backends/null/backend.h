// The null backend: computes nothing. The skeleton to copy for a new device, and planning tests without hardware.
#pragma once

#include "backends/backend.h"

namespace tenfold::backends {
std::shared_ptr<Backend> open_null();
}
