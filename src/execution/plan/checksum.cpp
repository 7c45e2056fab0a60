#include "plan/checksum.h"

#include <algorithm>
#include <vector>

#include "base/files/hash.h"
#include "base/threads/spread.h"
#include "plan/format.h"

namespace tenfold::plan {

std::uint64_t checksum_of(std::span<const std::byte> bytes, std::uint32_t flags) {
  if ((flags & kInPieces) == 0) return hash64(bytes);
  std::vector<std::uint64_t> pieces((bytes.size() + kHashedPiece - 1) / kHashedPiece);
  spread(static_cast<std::int64_t>(pieces.size()), static_cast<std::int64_t>(bytes.size()), [&](std::int64_t i) {
    const std::size_t at = static_cast<std::size_t>(i) * kHashedPiece;
    pieces[static_cast<std::size_t>(i)] = hash64(bytes.subspan(at, std::min(kHashedPiece, bytes.size() - at)));
  });
  return hash64(std::as_bytes(std::span(pieces)));
}

}  // namespace tenfold::plan
