// Few rows times weights of 16-bit fixed point, or of 8 bits, with AVX512_VNNI, which adds products of pairs of 16 bits up in 32.
//
// A row is fixed point as well, of 20 bits beside its largest value: a high and a low part of 10 each, so that sums of kChunk products with
// 16 bits do not overflow. Then they go on as floats. A pair of k is (32 * i + j, 32 * i + 16 + j): rows need no shuffling.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

struct GemvS16Tile {
  const std::int32_t* rows = nullptr;      // [row][high, low][pairs]
  const float* row_scale = nullptr;        // of each row, whose unit is its lowest bit
  std::int64_t pairs = 0;                  // of a row's part, a multiple of 16
  std::int64_t used = 0;                   // the first of them, an even number: those behind are zeros
  const std::int16_t* weights = nullptr;   // [pair][panel][16 columns][2]
  const std::int8_t* bytes = nullptr;      // the same of 8 bits, for gemm_bytes
  std::int64_t pair_step = 0;              // from a pair's to the next
  const float* step = nullptr;             // of each column
};

struct GemvS16Kernels {
  static constexpr int kMaxRows = 3, kMaxPanels = 8, kChunk = 128;
  int panels[kMaxRows] = {};   // that a call takes at most
  // A row of `k` values times `balance`, both read in whole; zeros behind it. False: its values are no ordinary numbers.
  bool (*split)(const float* row, const float* balance, std::int64_t k, std::int32_t* parts, float* scale) = nullptr;
  // [rows - 1][panels - 1]; of the second are read: c, c_stride, cols, epilogue
  void (*product[kMaxRows][kMaxPanels])(const GemvS16Tile&, const GemmF32Tile&) = {};
  void (*gemm_bytes[kMaxRows][kMaxPanels])(const GemvS16Tile&, const GemmF32Tile&) = {};
};
// Pairs of k that hold values.
constexpr std::int64_t used_pairs(std::int64_t k) {
  const std::int64_t rest = k % 32;
  return (k / 32 * 16 + (rest < 16 ? rest : 16) + 1) / 2 * 2;
}
extern "C" const GemvS16Kernels tenfold_gemv_s16_vnni;

}  // namespace tenfold::backends::cpu
