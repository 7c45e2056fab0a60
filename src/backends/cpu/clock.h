// The clock that a processor has now, measured.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

// In kHz, of the processor that this thread is on: a chain of additions, each of which waits one cycle for the one before. Takes a fifth of
// a millisecond. 0 where the chain is not known to take that.
std::int64_t measured_clock_khz() noexcept;

}  // namespace tenfold::backends::cpu
