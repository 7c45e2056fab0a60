// How fast a part of a device runs, as far as that can be known quickly.
#pragma once

#include <cstdint>
#include <string>

namespace tenfold::backends {

struct Clock {
  std::string of;          // "processor", "GPU", "GPU memory"
  std::int64_t khz = 0;
};

}  // namespace tenfold::backends
