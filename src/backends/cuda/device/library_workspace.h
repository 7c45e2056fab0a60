// Memory that cuBLASLt and cuDNN work in: it must begin at a multiple of 256 bytes (cuBLASLt refuses it otherwise), where a plan
// promises 64.
#pragma once

#include <cstdint>

namespace tenfold::backends::cuda {

inline constexpr std::int64_t kLibraryAlignment = 256;

// What a tactic asks for, so that the library has `bytes` from an aligned start.
constexpr std::int64_t with_room_to_align(std::int64_t bytes) { return bytes + kLibraryAlignment; }
inline void* library_workspace(void* memory) {
  constexpr std::uintptr_t kMask = kLibraryAlignment - 1;
  return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory) + kMask) & ~kMask);
}

}  // namespace tenfold::backends::cuda
