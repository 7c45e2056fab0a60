// XXH3 hashes of bytes: checksums of plan sections and keys of equal constants. Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenfold {

struct Hash128 {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Hash128&) const = default;
  auto operator<=>(const Hash128&) const = default;
};

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0);
Hash128 hash128(std::span<const std::byte> bytes, std::uint64_t seed = 0);
Hash128 hash128(std::string_view text, std::uint64_t seed = 0);

}  // namespace tenfold
