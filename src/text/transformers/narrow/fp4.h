// Weights of e2m1 in blocks: MXFP4 (OCP Microscaling; 32 values share a power of two, e8m0) and NVFP4 (16 share a number of e4m3, and all
// of a matrix a float).
#pragma once

#include <cstdint>
#include <string_view>

namespace tenfold::transformers {

enum class Fp4 : std::uint8_t { none, mxfp4, nvfp4 };
std::string_view name(Fp4 kind);  // "mxfp4", "nvfp4"
constexpr int block_of(Fp4 kind) { return kind == Fp4::mxfp4 ? 32 : 16; }

float e2m1_value(std::uint8_t code);             // of 4 bits
std::uint8_t nearest_e2m1(float value);          // halves to even; what is larger becomes 6
float scale_value(Fp4 kind, std::uint8_t code);  // of e8m0 or e4m3; NaN where the code stands for none
std::uint8_t nearest_e4m3(float value);          // from 0 to 448, halves to even

// What divides the scales of an NVFP4 matrix so that its largest block has the largest scale; of MXFP4 1.
float global_scale(Fp4 kind, float largest);
// The scale of a block, in whose units its values become e2m1.
std::uint8_t scale_code(Fp4 kind, float largest, float global);

}  // namespace tenfold::transformers
