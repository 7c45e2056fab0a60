// The CPU backend: tactics for x86-64 with AVX2 and above, dispatched at run time.
#pragma once

#include "backends/backend.h"

namespace tenfold::backends {
// `features` restricts the machine to fewer instruction sets, so that every path can be tested on one machine; 0: all it has. `pools`:
// workers that other backends take, too; null: its own. `allocator`: where memory comes from, weights' too, which are copied there then.
std::shared_ptr<Backend> open_cpu(std::uint32_t features, std::shared_ptr<Pools> pools = nullptr,
                                  std::shared_ptr<DeviceAllocator> allocator = nullptr);
}
