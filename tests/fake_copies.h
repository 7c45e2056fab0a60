// Copies of the fake driver that happen late, calls that fail once, and memory of callers that is registered (fake_driver.h).
#pragma once

#include "backends/cuda/device/driver.h"

namespace tenfold::tests {

int one_failure(const char* call);   // the answer of the call that a test lets fail; else 0
void copy_late(backends::cuda::DevicePointer to, backends::cuda::DevicePointer from, std::size_t bytes, const void* stream);
void note_copies(const void* event, const void* stream);   // the event is behind what the stream was asked so far
void finish_copies_before(const void* event);
void finish_copies(const void* stream);
bool is_registered(const void* p);
void add_registered(backends::cuda::Driver& table);

}  // namespace tenfold::tests
