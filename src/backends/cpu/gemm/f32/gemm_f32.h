// The blocked f32 product around the micro-kernels: packing of B, tables of row pointers, and the loop over one block of C.
#pragma once

#include <cstdint>

#include "backends/cpu/gemm/f32/f32_epilogue.h"
#include "backends/cpu/kernels/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

// Broad: panels of three vectors, quad: of four. Dot: vectors along K. Pairs, fours: so many steps of K in a vector.
enum GemmIsa : std::int64_t {
  kGemmAvx2,
  kGemmAvx512,
  kGemmDotAvx2,
  kGemmDotAvx512,
  kGemmBroadAvx512,
  kGemmQuadAvx512,
  kGemmPairsAvx512,
  kGemmFoursAvx512,
  kGemmIsaCount
};
inline GemmIsa best_gemm_isa(const DeviceInfo& device) { return device.features & kAvx512 ? kGemmAvx512 : kGemmAvx2; }
const GemmF32Kernels& gemm_f32_kernels(std::int64_t isa);
// Instruction sets to offer, best guess first, for tiles of at least `rows` rows and `columns` columns.
std::vector<std::int64_t> gemm_isas(const DeviceInfo& device, std::int64_t rows, std::int64_t columns);
// Dots, pairs and fours are for those who pack through GemmF32Weights alone.
Verdict gemm_isa_runs(const DeviceInfo& device, std::int64_t isa, bool dots = false);

// B of (taps * k) x n, packed as [block of k][panel][tap][k in block][panel column]: a block of K is contiguous for a range of panels.
// With lanes above 1 there is one block of K, each tap of it [k / lanes, rounded up][panel column][lane].
struct GemmF32Weights {
  std::int64_t taps = 1, k = 0, n = 0;
  std::int64_t k_block = 0;  // of k, the same for every tap; the last block may be smaller
  int panel = 0, lanes = 1;

  std::int64_t panels() const { return (n + panel - 1) / panel; }
  std::int64_t k_blocks() const { return k == 0 ? 1 : (k + k_block - 1) / k_block; }
  std::int64_t depth(std::int64_t block) const { return std::min(k_block, k - block * k_block); }
  std::int64_t stored(std::int64_t depth) const { return (depth + lanes - 1) / lanes * lanes; }
  std::int64_t floats() const { return taps * stored(k) * panels() * panel; }
  std::int64_t at(std::int64_t block, std::int64_t p) const {  // where a panel starts
    return block * k_block * taps * panels() * panel + p * panel * taps * stored(depth(block));
  }
  // Where element (tap, k, column) lies.
  std::int64_t slot(std::int64_t tap, std::int64_t i, std::int64_t column) const {
    const std::int64_t block = i / k_block, in_block = i % k_block;
    return at(block, column / panel) + (tap * stored(depth(block)) + in_block / lanes * lanes) * panel + column % panel * lanes +
           in_block % lanes;
  }
};
// packed[slot] = value(tap, k, column), zeros in what pads panels and lanes.
template <class Value>
void pack_f32(const GemmF32Weights& w, float* packed, Value&& value) {
  for (std::int64_t block = 0; block < w.k_blocks(); ++block)
    for (std::int64_t panel = 0; panel < w.panels(); ++panel)
      for (std::int64_t tap = 0; tap < w.taps; ++tap)
        for (std::int64_t first = block * w.k_block, end = first + w.depth(block); first < end; first += w.lanes)
          for (std::int64_t column = panel * w.panel; column < (panel + 1) * w.panel; ++column)
            for (std::int64_t i = first; i < first + w.lanes; ++i) *packed++ = column < w.n && i < end ? value(tap, i, column) : 0.f;
}

// Rows of C are cut into tiles of nearly equal height. A table holds the pointers of one block of rows.
struct RowTiles {
  std::int64_t count = 0, height = 0, higher = 0;  // the first `higher` tiles have one row more: no division on the way
  RowTiles(std::int64_t rows, int max_rows) : count((rows + max_rows - 1) / max_rows) {
    if (count > 0) height = rows / count, higher = rows % count;
  }
  std::int64_t begin(std::int64_t tile) const { return tile * height + std::min(tile, higher); }
};
inline constexpr std::int64_t kRowTable = 6144;  // pointers that a table on the stack holds
// Calls fill(row, pointer to the row's entry of tap 0) for every row; taps are max_rows entries apart.
template <class Fill>
void fill_table(const RowTiles& tiles, std::int64_t taps, int max_rows, const float** table, Fill&& fill) {
  for (std::int64_t t = 0; t < tiles.count; ++t, table += taps * max_rows)
    for (std::int64_t row = tiles.begin(t), r = 0; row < tiles.begin(t + 1); ++row, ++r) fill(row, table + r);
}
// Most rows whose table fits.
inline std::int64_t table_rows(std::int64_t taps, int max_rows) { return kRowTable / (taps * max_rows) * max_rows; }

// One block of C: rows of a table times panels [first_panel, last_panel).
struct GemmF32Block {
  const float* const* table = nullptr;
  std::int64_t rows = 0, row = 0;  // of C, from `row` on
  std::int64_t offset = 0;         // elements added to every pointer
  std::int64_t first_panel = 0, last_panel = 0;
  std::int64_t column = 0;  // of C where panel 0 starts (a group's first channel)
  float* c = nullptr;       // element (0, 0) of all of C
  std::int64_t c_stride = 0;
  bool far = false;         // C is too large to wait in the second cache
};
inline bool is_far(std::int64_t rows, std::int64_t columns) { return rows * columns * 4 > 512 << 10; }
void gemm_f32_block(const GemmF32Kernels& kernels, const GemmF32Weights& w, const float* packed, const GemmF32Block& block,
                    const F32Epilogue& epilogue, const F32Epilogue::Binding& bound, void* scratch) noexcept;

// What a product costs as floating-point operations: besides those of its sums, what a result takes, which is most of it where K is small.
// Few columns take a whole vector.
inline double gemm_f32_flops(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t depth) {
  return static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(std::max<std::int64_t>(n, 16)) *
         (2.0 * static_cast<double>(depth) + 12);
}
// Less is over before another worker has answered: some microseconds.
inline constexpr double kMinSharedFlops = 4e5;

// How a product is divided: rows and columns of a block, and k of a block.
struct GemmF32Blocking {
  std::int64_t isa = 0, rows = 0, cols = 0, k = 0;
};
// Blockings worth timing for `batch` products of m x (taps * k) x n, best guess first; `dots`: also forms with vectors along K; `together`:
// a part takes its rows of all products.
std::vector<GemmF32Blocking> gemm_f32_blockings(const DeviceInfo& device, std::int64_t batch, std::int64_t m, std::int64_t n,
                                                std::int64_t taps, std::int64_t k, bool dots = false, bool together = false);

}  // namespace tenfold::backends::cpu
