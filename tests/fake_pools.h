// The fake driver's pools of memory (fake_driver.h).
#pragma once

#include "backends/cuda/device/driver.h"

namespace tenfold::tests {

int current_gpu();  // of this thread's context
int answer();       // what calls that reach this GPU answer now
void add_pools(backends::cuda::Driver& table);
int take_memory(void** memory, std::size_t bytes);   // of the fake GPU's; a driver's answer
void end_memory(void* memory);

}  // namespace tenfold::tests
