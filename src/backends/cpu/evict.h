// Puts memory out of the caches, so that a kernel can be timed as it will run: with weights that come from memory.
#pragma once

#include <cstddef>
#include <span>

namespace tenfold::backends::cpu {

void evict(std::span<const std::byte> memory) noexcept;

}  // namespace tenfold::backends::cpu
