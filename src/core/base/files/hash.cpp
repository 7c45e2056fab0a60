// The only file that includes xxhash.h, whose code is inlined here.
#include "base/files/hash.h"

#include "base/files/hash_stream.h"

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace tenfold {

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}
std::uint64_t hash64(std::string_view text, std::uint64_t seed) { return hash64(std::as_bytes(std::span(text)), seed); }

Hash128 hash128(std::span<const std::byte> bytes, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.low64, hash.high64};
}
Hash128 hash128(std::string_view text, std::uint64_t seed) { return hash128(std::as_bytes(std::span(text)), seed); }

struct HashStream::State { XXH3_state_t xxh3; };   // aligned as XXH3 wants it
HashStream::HashStream(std::uint64_t seed) : state_(new State) { XXH3_64bits_reset_withSeed(&state_->xxh3, seed); }
HashStream::~HashStream() = default;
void HashStream::add(std::span<const std::byte> bytes) { XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size()); }
std::uint64_t HashStream::value() const { return XXH3_64bits_digest(&state_->xxh3); }

}  // namespace tenfold
