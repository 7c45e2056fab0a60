// The fake driver's pools of memory (fake_driver.h).
#pragma once

#include "backends/cuda/device/driver.h"

namespace tenfold::tests {

void add_pools(backends::cuda::Driver& table);
int take_memory(void** memory, std::size_t bytes);   // of the fake GPU's; a driver's answer
void end_memory(void* memory);

}  // namespace tenfold::tests
