// The bf16 product for few steps of k: 16 rows of A times 64 columns of B, whose weights then stay in the first cache.
//
// Rows of A are loaded once instead of twice. Sums stay in the tile registers until the next product's first step stores them, and get
// their epilogue one product later, some rows behind each multiplication: stores, epilogues and multiplications all overlap.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_bf16.h"

namespace tenfold::backends::cpu {

// Where rows of results go. Bias, residual and result are bf16, and there is no GELU.
struct GemmBf16StripRows {
  const GemmBf16Waiting::Row* table = nullptr;   // row i's sums are 16 * i behind the first; it lives for two strips more
  std::int64_t count = 0;
  // Not 0: 16 rows that lie so many bytes apart, residuals and results alike; the table has the first one alone.
  std::int64_t step = 0;
};

// 16 rows times panels [first, last), an even number of them.
struct GemmBf16Strip {
  static constexpr int kRows = 16, kColumns = 64, kMaxSteps = 8;   // of k: 32 KiB of weights
  const char* a = nullptr;                 // the first row
  std::int64_t row_bytes = 0;              // from one to the next
  std::int64_t steps = 0;
  std::int64_t offsets[kMaxSteps] = {};   // where each step starts, in bytes from the row
  const std::uint16_t* panels = nullptr;   // panel 0
  std::int64_t panel = 0, first = 0, last = 0;   // values of a panel
  GemmBf16StripRows rows;
  bool prefetch = false;   // for the lines of C before they are written
  GemmBf16Ahead rows_ahead, panels_ahead;   // `each` for a pair of panels
};

// What strips hand on: the sums of 16 rows and 64 columns that are in registers, and those in memory. Blocks take turns and are never
// copied: a load of several fields at once, of which each was just stored, waits for all stores before it, of sums and results, too.
struct GemmBf16StripState {
  static constexpr std::int64_t kBlock = 1024, kApart = kBlock + 16;   // two blocks differ in the lower bits of their addresses
  static constexpr std::int64_t kSums = kApart + kBlock;               // floats
  struct Block {
    const GemmBf16Waiting::Row* rows = nullptr;   // row i's sums are 16 * i behind the first
    std::int64_t count = 0, step = 0, column = 0;
    char* out = nullptr;   // of the first row and column
    const char* residual = nullptr;
    float* sums = nullptr;
  };
  const GemmBf16EpilogueArgs* epilogue;
  Block blocks[4];
  unsigned turn = 0;

  GemmBf16StripState(const GemmBf16EpilogueArgs& of, float* memory) : epilogue(&of) {
    for (int i = 0; i < 4; ++i) blocks[i].sums = memory + i % 2 * kApart;
  }
  Block& block(unsigned ago) { return blocks[(turn - ago) % 4]; }   // 0: at work, 1: in registers, 2: in memory
};

struct GemmBf16Strips {
  void (*multiply)(const GemmBf16Strip&, GemmBf16StripState&) = nullptr;
  void (*epilogues)(GemmBf16StripState&) = nullptr;   // what waits
};
extern "C" const GemmBf16Strips tenfold_gemm_bf16_strips_amx;

}  // namespace tenfold::backends::cpu
