// Three planes of f32 to pixels of bf16, to nearest even.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

using CastPixels = void (*)(const float* from, std::int64_t plane, std::int64_t pixels, std::uint16_t* to);
extern "C" const CastPixels tenfold_cast_pixels_avx512bf16;

}  // namespace tenfold::backends::cpu
