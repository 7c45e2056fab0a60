// Checksums of a plan's sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenfold::plan {

inline constexpr std::size_t kHashedPiece = 4 << 20;   // bytes

// XXH3 of the bytes; with kInPieces among the flags, XXH3 of the XXH3s of pieces of kHashedPiece bytes, which several threads may compute
// (base/threads/spread.h).
std::uint64_t checksum_of(std::span<const std::byte> bytes, std::uint32_t flags);

}  // namespace tenfold::plan
