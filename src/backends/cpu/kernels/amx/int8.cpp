// Int8 products with AMX: tiles of 16 rows x 64 values of k times 64 values x 16 columns, for any mix of signs.
//
// Two tiles of rows times two of columns keep four accumulators busy. Weights are always signed here (the packing sees to it), so
// only A's sign chooses the instruction. Rows of A and of C beyond `rows` are computed and ignored: blocks are padded to whole tiles.
#include <immintrin.h>

#include "backends/cpu/kernels/int8.h"
#include "backends/cpu/kernels/int8_copy.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kTileRows = 16, kTileBytes = 64;

struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes};
  std::uint8_t rows[16] = {kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows};
};
constexpr TileShapes kShapes;

void enter(bool) { _tile_loadconfig(&kShapes); }
void leave() { _tile_release(); }

// Tile registers are literal numbers: 0-3 accumulators [row tile][column tile], 4-5 rows of A, 6-7 columns of B.
template <bool Signed, bool TwoRows, bool TwoColumns>
void product(const char* a, std::int64_t a_stride, const char* b, std::int64_t steps, const std::int32_t* init, std::int32_t* c,
             std::int64_t c_stride) {
  const std::int64_t b_step = (TwoColumns ? 2 : 1) * kTileRows * kTileBytes, bytes = c_stride * 4;
  const char* a2 = a + kTileRows * a_stride;
  std::int32_t* c2 = c + kTileRows * c_stride;
  // Every row of an accumulator starts with the same values: a tile load of stride 0.
  _tile_loadd(0, init ? init : c, init ? 0 : bytes);
  if constexpr (TwoColumns) _tile_loadd(1, (init ? init : c) + 16, init ? 0 : bytes);
  if constexpr (TwoRows) _tile_loadd(2, init ? init : c2, init ? 0 : bytes);
  if constexpr (TwoRows && TwoColumns) _tile_loadd(3, (init ? init : c2) + 16, init ? 0 : bytes);
  for (std::int64_t s = 0; s < steps; ++s) {
    _tile_loadd(6, b, kTileBytes);
    if constexpr (TwoColumns) _tile_loadd(7, b + kTileRows * kTileBytes, kTileBytes);
    _tile_loadd(4, a, a_stride);
    if constexpr (TwoRows) _tile_loadd(5, a2, a_stride);
    if constexpr (Signed) {
      _tile_dpbssd(0, 4, 6);
      if constexpr (TwoColumns) _tile_dpbssd(1, 4, 7);
      if constexpr (TwoRows) _tile_dpbssd(2, 5, 6);
      if constexpr (TwoRows && TwoColumns) _tile_dpbssd(3, 5, 7);
    } else {
      _tile_dpbusd(0, 4, 6);
      if constexpr (TwoColumns) _tile_dpbusd(1, 4, 7);
      if constexpr (TwoRows) _tile_dpbusd(2, 5, 6);
      if constexpr (TwoRows && TwoColumns) _tile_dpbusd(3, 5, 7);
    }
    a += kTileBytes;
    a2 += kTileBytes;
    b += b_step;
  }
  _tile_stored(0, c, bytes);
  if constexpr (TwoColumns) _tile_stored(1, c + 16, bytes);
  if constexpr (TwoRows) _tile_stored(2, c2, bytes);
  if constexpr (TwoRows && TwoColumns) _tile_stored(3, c2 + 16, bytes);
}

template <bool Signed>
void tile_of(bool two_rows, bool two_columns, const char* a, std::int64_t a_stride, const char* b, std::int64_t steps,
             const std::int32_t* init, std::int32_t* c, std::int64_t c_stride) {
  if (two_rows && two_columns) return product<Signed, true, true>(a, a_stride, b, steps, init, c, c_stride);
  if (two_rows) return product<Signed, true, false>(a, a_stride, b, steps, init, c, c_stride);
  if (two_columns) return product<Signed, false, true>(a, a_stride, b, steps, init, c, c_stride);
  return product<Signed, false, false>(a, a_stride, b, steps, init, c, c_stride);
}

void panel(std::int64_t rows, int width, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups, const std::uint16_t*,
           const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed, Int8Ahead) {
  const bool two_columns = width > 16;
  const std::int64_t steps = k_groups / 16;
  const auto run = is_signed ? tile_of<true> : tile_of<false>;
  for (; rows > 0; rows -= 2 * kTileRows, a += 2 * kTileRows * a_stride, c += 2 * kTileRows * c_stride)
    run(rows > kTileRows, two_columns, a, a_stride, b, steps, init, c, c_stride);
}

}  // namespace

extern "C" const Int8Kernels TENFOLD_TABLE(int8) = {.mr = 2 * kTileRows,
                                                    .nr = 32,
                                                    .row_step = 2 * kTileRows,
                                                    .k_group = 4,
                                                    .k_step = 16,
                                                    .k_chunk = 1024,
                                                    .ordered = false,
                                                    .signed_shift = 0,
                                                    .expand_shifts = false,
                                                    .direct_unsigned = false,
                                                    .direct_signed = false,
                                                    .enter = enter,
                                                    .leave = leave,
                                                    .expand = int8_copy,
                                                    .panel = panel,
                                                    .taps = nullptr};

}  // namespace tenfold::backends::cpu
