// Micro-kernels of products with weights of 4 or 8 bits that have a scale, and maybe a zero point, for each block of a column. Those of 4
// bits are integers, or e2m1.
//
// A panel is 16 columns. A word of 32 bits holds neighbors of K of one column: 4 bytes, or 8 values of 4 bits, of which the first four are
// the lower halves of the bytes. Integers are unsigned: signed weights and zero points are stored with half of the range added.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

inline constexpr int kBlockScaledPanel = 16;

// How scales are stored: as f32, as their upper 24 bits (16 of 16, then 16 of 8), or as floats of 8 bits.
enum BlockScaledScales { kF32Scales, kF24Scales, kE8m0Scales, kE4m3Scales };

// Blocks of a panel: all but the last are multiples of 16 deep.
struct BlockScaledPanel {
  const std::uint32_t* words = nullptr;   // [k / values of a word][16]
  const char* scales = nullptr;           // [block][16]
  BlockScaledScales scale_type = kF32Scales;
  float factor = 1;                       // of scales of e4m3
  const std::uint8_t* zeros = nullptr;    // [block][16 of 4 or 8 bits: column c + 8 is the upper half of byte c]
  float zero = 0;                         // of all, where there are no zero points; not of e2m1
  std::int64_t k = 0, block = 0;
};

enum BlockScaledBits { kFourBits, kEightBits };
// What the values stand for: numbers beside one zero point, beside that of their block, or e2m1, which has 4 bits.
enum BlockScaledValues { kOneZero, kZeroOfBlock, kE2m1 };

struct BlockScaledKernels {
  static constexpr int kMaxRows = 8;
  int max_rows = 0;
  // [bits][values][rows - 1]: of the tile are read rows, c, c_stride, cols and epilogue.
  void (*product[2][3][kMaxRows])(const BlockScaledPanel&, const GemmF32Tile&) = {};
  // Rows [first, last) of K as floats, `stride` apart; `first` begins a block or a word in it.
  void (*unpack[2][3])(const BlockScaledPanel&, std::int64_t first, std::int64_t last, float* to, std::int64_t stride) = {};
};
extern "C" const BlockScaledKernels tenfold_block_scaled_avx2, tenfold_block_scaled_avx512;

// A row as integers of two bytes, a scale for each block of K.
struct BlockScaledRow {
  std::int32_t* parts = nullptr;   // [4 neighbors of K][upper, lower], each 4 bytes; zeros in what makes blocks multiples of 16
  float* scale = nullptr;          // [block]
  std::int32_t* sums = nullptr;    // [block][upper, lower], of the parts
};

struct BlockScaledBytesKernels {
  static constexpr int kMaxRows = 4;
  static constexpr std::int64_t kMaxBlock = 1 << 15;   // sums of larger ones may not fit 32 bits
  // False: values are no ordinary numbers.
  bool (*split)(const float* row, std::int64_t k, std::int64_t block, const BlockScaledRow& to) = nullptr;
  // [bits][values][rows - 1]: of the tile are read c, c_stride, cols and epilogue.
  void (*product[2][3][kMaxRows])(const BlockScaledPanel&, const BlockScaledRow*, const GemmF32Tile&) = {};
};
extern "C" const BlockScaledBytesKernels tenfold_block_scaled_bytes_vnni;

// A panel as one of both tiles of columns of a panel of kernels/gemm/gemm_bf16.h, in one term or two; `steps` of 32 rows of K, zeros
// behind the last row.
struct BlockScaledBf16Kernels {
  void (*unpack[2][3][2])(const BlockScaledPanel&, std::int64_t steps, std::uint16_t* to) = {};  // [bits][values][terms - 1]
};
extern "C" const BlockScaledBf16Kernels tenfold_block_scaled_bf16_amx;

}  // namespace tenfold::backends::cpu
