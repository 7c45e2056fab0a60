// Micro-kernels of the depthwise convolution of bf16 images, whose sums are f32: results of one line times a block of channels.
//
// A vector holds 32 channels. They are summed as 16 of even and 16 of odd number, for each half of a register becomes f32 by one
// instruction so; both meet again when they are rounded.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_bf16.h"

namespace tenfold::backends::cpu {

struct DepthwiseBf16Tile {
  // rows[line]: the first result's first tap, in that line of the kernel; null: the line lies outside.
  const std::uint16_t* const* rows = nullptr;
  std::int64_t lines = 0, step = 0;                 // lines of the kernel; elements from a position to the next
  std::int64_t first = 0, last = 0;                 // positions that exist, where the first result's first tap is position 0: some of
  const std::uint16_t* zeros = nullptr;             //   each window's. This stands for the others
  const float* weights = nullptr;                   // as widen() leaves them
  std::int64_t offset = 0, cols = 0;                // elements added to every pointer; channels
  std::uint16_t* c = nullptr;                       // bf16 results ...
  float* sums = nullptr;                            // ... or, if this is given, bare sums
  std::int64_t c_stride = 0;                        // of either
  const GemmBf16EpilogueArgs* epilogue = nullptr;   // of bf16 operands; with bare sums none
};
// So many neighboring results of a line.
using DepthwiseBf16Line = void (*)(const DepthwiseBf16Tile&, std::int64_t results);
inline constexpr int kDepthwiseBf16Block = 32;  // channels of a vector

struct DepthwiseBf16Kernels {
  DepthwiseBf16Line line[2][2];  // [3 or 5 wide][stride 1 or 2]
  // One result of any window: rows[tap], null outside.
  void (*window)(const DepthwiseBf16Tile&);
  // Vectors of weights, [vector of channels][tap][channel], as f32: the even channels of a vector, then its odd ones.
  void (*widen)(const std::uint16_t* from, std::int64_t vectors, float* to);
};
extern "C" const DepthwiseBf16Kernels tenfold_depthwise_bf16_amx;

}  // namespace tenfold::backends::cpu
