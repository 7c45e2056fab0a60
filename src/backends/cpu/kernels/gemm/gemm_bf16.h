// The bf16 product with f32 sums, on AMX tiles: up to 32 rows of A times 32 columns of B.
//
// Rows of A lie at one distance; k goes tap by tap, each tap a whole number of steps of 32 values (what pads the last step of A may be
// anything finite: B is zero there). B comes as panels of 32 columns: [tap][step][term][2 tiles of columns][16 pairs of k][16 columns][2].
//
// Products of f32 come as two terms of bf16 each, high and low: high * high + low * high + high * low is a product of f32 to 2^-16. After
// Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations" (ARITH 2019),
// which oneMKL knows as float_to_bf16x2 and x3.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

// Lines of memory that are wanted soon: each step of k fetches `each` of them into the second cache.
struct GemmBf16Ahead {
  const char* at = nullptr;
  std::int64_t lines = 0, each = 0;
};

struct GemmBf16Tile {
  const char* a[2] = {};            // the first row of either tile of 16 rows; null: there is no second one
  std::int64_t row_bytes[2] = {};   // from one of its rows to the next
  const std::int64_t* taps = nullptr;   // where each tap starts, in bytes from the row
  std::int64_t tap_count = 0, steps = 0;
  const std::uint16_t* panel = nullptr;
  // Not null: B in f32, to be split into its three terms at `panel` on the way, which has room for all steps or, a ring, for two. Pairs of
  // steps lie there as [term][step of two]: what is split for a step differs in the lower 12 bits of its addresses from what tiles read for
  // the one before, so that these do not wait for its stores.
  const float* whole = nullptr;
  bool ring = false, finite = false;
  int terms = 1;          // of a value, in B a step of each behind the other, the highest first
  std::int64_t low = 0;   // bytes from rows to their next lower term
  bool add = false;       // to the sums that are there
  GemmBf16Ahead rows_ahead, panel_ahead;
  std::int64_t epilogues_each = 32;   // rows whose epilogue runs in each step
};

// The epilogue of sums: + bias, + residual, clamped, GELU to the precision of bf16. Operands are bf16 or f32 each.
struct GemmBf16EpilogueArgs {
  const char *bias = nullptr, *residual = nullptr;   // of the first row and column; null: none
  bool bias_wide = false, residual_wide = false, out_wide = false;   // f32
  std::int64_t residual_stride = 0;                  // in elements
  bool clamp = false, gelu = false;
  float low = 0, high = 0;
};

// Sums of 32 rows x 32 columns that wait for their epilogue, which comes while the next ones are added up.
struct GemmBf16Waiting {
  struct Row {
    std::int64_t sums = 0;           // where they begin among `sums`
    char* out = nullptr;             // where its column 0 goes ...
    const char* residual = nullptr;  // ... and what is added there
  };
  const GemmBf16EpilogueArgs* epilogue = nullptr;
  const Row* rows = nullptr;
  std::int64_t count = 0, column = 0, columns = 0;   // rows; the first column; how many
  float* sums = nullptr;
};

// Rows of bf16 or f32 values to copy: of `count` values each, then zeros up to `padded`.
struct Bf16Copy {
  const char* from = nullptr;
  std::int64_t from_bytes = 0;   // from one row to the next
  bool wide = false;             // f32, to be rounded to nearest even
  std::int64_t rows = 0, count = 0, padded = 0;
  char* to = nullptr;
  std::int64_t to_bytes = 0;
  int terms = 1;          // of a value, if f32: rounded; or two of its three bytes of significant bits, or all
  std::int64_t low = 0;   // bytes from a term to the next lower one
};

struct GemmBf16Kernels {
  static constexpr int kRows = 32, kColumns = 32;
  void (*enter)() = nullptr;   // sets up the tile registers of this thread ...
  void (*leave)() = nullptr;   // ... and gives them back
  void (*copy)(const Bf16Copy&) = nullptr;
  // 32 columns of sums for 32 or, without a second tile, 16 rows, which lie `stride` floats apart.
  void (*multiply)(const GemmBf16Tile&, float* sums, std::int64_t stride) = nullptr;
  // The same into `own`, while those `before`, which may be none, get their epilogue.
  void (*multiply_with_epilogue)(const GemmBf16Tile&, const GemmBf16Waiting& own, const GemmBf16Waiting& before) = nullptr;
  void (*epilogue)(const GemmBf16Waiting&) = nullptr;
  // To `rows` x `cols` sums; whole groups of 32 are touched.
  void (*add_bias)(const char* bias, bool wide, float* sums, std::int64_t stride, std::int64_t rows, std::int64_t cols) = nullptr;
};
extern "C" const GemmBf16Kernels tenfold_gemm_bf16_amx;

}  // namespace tenfold::backends::cpu
