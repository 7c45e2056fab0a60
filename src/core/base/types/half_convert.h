// Many floats to halves at once: weights of a whole model.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenfold {

// As float_to_half() on each.
void floats_to_fp16(const float* from, std::uint16_t* to, std::size_t count);

}  // namespace tenfold
