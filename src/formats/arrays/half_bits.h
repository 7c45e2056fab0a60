// Numbers in 16 bits: the bits of the fp16 or bf16 number nearest to a value, ties to even.
#pragma once

#include <cstdint>

namespace tenfold::formats {

// Beyond the largest number: infinity.
std::uint16_t f16_bits(double value);
std::uint16_t bf16_bits(double value);

}  // namespace tenfold::formats
