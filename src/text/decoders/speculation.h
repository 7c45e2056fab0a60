// Speculative decoding without a second model: what followed the last tokens where they stood before (prompt lookup).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenfold::decoders {

// At most `most` tokens that may follow `ids`: those behind the newest earlier place of its last three tokens, or else of its last two.
// They are a part of `ids`; none where these stand nowhere else.
std::span<const std::int32_t> guess(std::span<const std::int32_t> ids, std::size_t most);

}  // namespace tenfold::decoders
