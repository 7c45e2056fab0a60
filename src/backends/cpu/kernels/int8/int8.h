// Int8 products: what each instruction set offers to the int8 tactics. The host side (int8_common.h) cuts problems into these calls.
//
// Rows of A: k bytes, padded to whole groups of `k_group` values; what pads them is multiplied by zero.
// Packed B: panels of `nr` columns, [k / k_group][nr][k_group] bytes; a panel of at most nr / 2 columns at the end may be packed
// with half the width.
// Zero points never enter the inner loop: accumulators start at minus (zero point of A) * (sum of B's column).
#pragma once

#include <cstdint>

#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {

// A tap of the windows that are the rows of A: of row r it starts at rows[r] + offset.
struct Int8WindowTap {
  const char* const* rows;
  std::int64_t offset;
};

// Weights that are wanted soon: kernels that care fetch them into the second-level cache meanwhile, a line in each step of k.
struct Int8Ahead {
  const char* at;
  std::int64_t bytes;
};

enum class Int8Type : std::int32_t { f32, u8, i8 };
// At first: none.
struct Int8Range {
  float low = 1, high = 0;
  constexpr bool there() const { return low <= high; }
};

// Values on a grid of their own that are scaled and shifted again.
struct Int8Grid {
  Int8Range range;
  const float *scale = nullptr, *bias = nullptr;   // per column, as those of the sums
};
// What is added before the last clamp.
struct Int8Residual {
  const void* data = nullptr;   // null: none
  Int8Type type = Int8Type::f32;
  std::int64_t stride = 0;
  float zero = 0, scale = 1;
};
// How values become results.
struct Int8Result {
  Int8Range clamp;
  float grid_scale = 0;          // of a grid that a result of type f32 with a residual is rounded to, before its clamp; 0: none
  Int8Type type = Int8Type::f32;
  float zero = 0;                // added before the saturation
  bool small = false;            // no value leaves 32 bits before it is clamped for the last time
};

// The common epilogue of an int8 product, on a tile that is still in L1:
//   y = acc * scale[j] + bias[j];  round and clamp to the grid, * grid.scale[j] + grid.bias[j];  clamp;
//   round and clamp to the middle, * middle_scale;  + residual;  result.clamp;
// or
//   y = gelu(x) * gelu_scale of x * gelu_scale = acc * scale[j] + bias[j];
// with acc * rows[r] in place of acc where rows of A have scales of their own;
//   then stored as f32, or rounded half to even, moved by its zero point and saturated, as QuantizeLinear defines it.
// Scales are folded by the caller so that every rounding finds its value in units of its own grid: no division is left.
struct Int8EpilogueArgs {
  const float *scale = nullptr, *bias = nullptr;   // per column; readable up to the next multiple of 16 columns, like the accumulators
  const float* rows = nullptr;       // a factor for each row; null: none. With them results are f32, no grid or middle, a residual is f32
  float gelu_scale = 0;              // 0: no GELU (of erf); with one there is no grid, residual or clamp
  bool has_grid = false;
  Int8Grid grid;
  Int8Range clamp;                   // none where there is a middle
  float middle_scale = 0;            // a result on a grid of its own before a residual; 0: none
  Int8Range middle;
  Int8Residual residual;
  Int8Result result;
};

// A product whose results are bytes, stored while later ones are added up: some tiles of 16 rows of A times panels of B.
struct Int8Stream {
  struct Tile {
    const char* a;        // 16 rows that may be read, `stride` bytes apart
    std::int64_t stride;
    std::int64_t count;   // of them come from the problem ...
    std::int64_t x;       // ... the first as number x of its line,
    std::int64_t at;      // and this is where column 0 of the first one that is a result goes, and where its residual is, in elements
  };
  const Tile* tiles;
  std::int64_t tile_count;
  std::int64_t line_rows, line_outputs;   // rows come in lines, of which the first ones are results (Int8Laid)
  std::int64_t row_elements;              // from a result to the next
  const std::int32_t* offsets;   // where each step of k lies, in bytes from the start of a row
  std::int64_t steps;
  const char* b;                 // the first panel; the others follow
  std::int64_t columns;          // whole panels
  const std::int32_t* init;      // what accumulators start at; null: 0
  bool is_signed, fetch_ahead;   // fetch_ahead: each block of columns fetches the next one's weights into the second cache
  Int8EpilogueArgs epilogue;     // of the first column, and of row 0 of the residual
  void* out;
};

struct Int8Kernels {
  int mr, nr;                  // rows and columns of the largest register tile
  int row_step;                // blocks of rows had better be multiples of this
  int whole_rows;              // rows that are read and written together, whether they exist or not
  int k_group;                 // neighbors in k that one 32-bit lane multiplies and adds
  int k_step;                  // groups of k that a tile of B holds: 1, but 16 for AMX, whose panels lie as two neighboring tiles
  int k_chunk;                 // values of k between two visits of an accumulator, so that a panel of B stays in L1
  bool ordered;                // whether the groups of a chunk come in classes (Int8Class), with a list that says where each was
  // What is added to signed A before it is multiplied, 128 where the instruction wants it unsigned; by `expand` or, else, by the panel.
  int signed_shift;
  bool expand_shifts;
  // True if rows of unsigned (signed) 8-bit A can be used where they lie, without expanding them: all of them if k has whole steps;
  // where whole_rows > 1, those that may be read in whole tiles.
  bool direct_unsigned, direct_signed;
  // Called on a worker before and after its tiles (AMX loads its tile shapes); null: nothing to do. `is_signed` is A's type.
  void (*enter)(bool is_signed);
  void (*leave)();

  // Copies `count` values; adds `signed_shift` to signed ones if `expand_shifts`.
  void (*expand)(const void* source, std::int64_t count, bool is_signed, void* packed);
  // c[r][j] = (init ? init[j] : c[r][j]) + sum over k of a[r][k] * b[k][j], for r < rows and j < width (nr or nr / 2).
  // Strides of A in bytes, of C in elements. `order`: of the groups of this chunk, null where they are not ordered.
  // Rows of A and C up to the next multiple of `whole_rows` are touched.
  void (*panel)(std::int64_t rows, int width, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups,
                const std::uint16_t* order, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed,
                Int8Ahead ahead);
  // The same with rows that lie in `count` taps of 4 * k_groups bytes each, all of k at once; null: they have to be gathered.
  void (*taps)(std::int64_t rows, int width, const Int8WindowTap* taps, std::int64_t count, const char* b, std::int64_t k_groups,
               const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed, Int8Ahead ahead);
  // The same with rows that lie `a_stride` bytes apart, and whose steps of 4 * k_step values lie at the offsets; null: not offered.
  void (*laid)(std::int64_t rows, int width, const char* a, std::int64_t a_stride, const std::int32_t* offsets, const char* b,
               std::int64_t k_groups, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed, Int8Ahead ahead);
  // Null: not offered. Of epilogues it takes those that Int8Epilogue::bytes() names.
  void (*stream)(const Int8Stream&);
};

// vpmaddubsw adds two products of an unsigned and a signed byte in 16 bits, where they may not fit. What the weights of a panel
// allow decides how a group of k is multiplied; groups of one class lie together. An order is the number of groups of each class,
// then for each group the index of its first value in the chunk.
enum Int8Class {
  kInt8Twice,     // the sums of two groups fit together: they share the step to 32 bits
  kInt8Plain,     // every pair of weights fits
  kInt8Flipped,   // every pair fits once odd weights are negated and odd values of A are complemented: 255 - a
  kInt8Wide,      // anything: widened to 16 bits
  kInt8Classes
};

struct Int8EpilogueKernels {
  // What all blocks of a run share, column by column: accumulators start at constants[j] - zero * sums[j] (no constants: 0 - ...),
  void (*start)(const std::int32_t* constants, const std::int32_t* sums, std::int32_t zero, std::int64_t count, std::int32_t* to);
  // scales and biases are products and sums of terms (step 0: one value for all columns), and are they at most `limit`?
  void (*combine)(bool multiply, const float* values, int step, std::int64_t count, float* to);
  bool (*within)(const float* values, float limit, std::int64_t count);
  // Columns [0, cols) of `rows` rows; pointers in `epilogue` already point to the first column (and row, for the residual).
  void (*epilogue)(const Int8EpilogueArgs& epilogue, const std::int32_t* acc, std::int64_t acc_stride, std::int64_t rows, std::int64_t cols,
                   void* out, std::int64_t out_stride);
};

extern "C" {
extern const Int8Kernels tenfold_int8_avx2, tenfold_int8_avx512, tenfold_int8_vnni, tenfold_int8_amx;
extern const Int8EpilogueKernels tenfold_int8_epilogue_avx2, tenfold_int8_epilogue_avx512;
}

}  // namespace tenfold::backends::cpu
