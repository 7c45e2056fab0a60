// What this CPU and its operating system offer: features, caches, name.
#pragma once

#include "backends/device_info.h"

namespace tenfold::backends::cpu {

// Detected once. A feature counts only if the operating system saves its registers too. Throws invalid_argument if TENFOLD_CPU_FEATURES
// names one that there is not.
const DeviceInfo& this_cpu();

// Whether kernels/avx512bf16 may run.
inline bool has_bf16(std::uint32_t features) {
  constexpr std::uint32_t kAll = kAvx512 | kVnni | kAvx512Bf16;
  return (features & kAll) == kAll;
}

// Asks Linux for the AMX tile state of this process; without it the first tile instruction is a fault. Cheap to repeat.
// Threads started later inherit the permission. this_cpu() has asked already: AMX bits are set only if it was granted.
bool request_amx() noexcept;

}  // namespace tenfold::backends::cpu
