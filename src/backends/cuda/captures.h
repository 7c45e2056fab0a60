// Graphs that callers capture from their streams.
#pragma once

#include <memory>

namespace tenfold::backends::cuda {

bool is_captured(void* stream) noexcept;
// What a thread may ask of the driver while some stream is being captured; returns what it was before.
int exchange_capture_mode(int mode) noexcept;
void keep_with_capture(void* stream, std::shared_ptr<void> what);   // throws device

}  // namespace tenfold::backends::cuda
