// Many floats to 16 bits at once, and back: weights of a whole model.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenfold {

// As float_to_half() on each, and so on.
void floats_to_fp16(const float* from, std::uint16_t* to, std::size_t count);
void floats_to_bf16(const float* from, std::uint16_t* to, std::size_t count);
void fp16_to_floats(const std::uint16_t* from, float* to, std::size_t count);
void bf16_to_floats(const std::uint16_t* from, float* to, std::size_t count);

}  // namespace tenfold
