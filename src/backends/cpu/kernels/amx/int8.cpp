// Int8 products with AMX: tiles of 16 rows x 64 values of k times 64 values x 16 columns, for any mix of signs.
//
// Two tiles of rows times two of columns keep four accumulators busy. Weights are always signed here (the packing sees to it), so
// only A's sign chooses the instruction. Rows of A and of C beyond `rows` are computed and ignored: blocks are padded to whole tiles.
#include <immintrin.h>

#include "backends/cpu/kernels/amx/int8_stream.h"
#include "backends/cpu/kernels/amx/tile_shapes.h"
#include "backends/cpu/kernels/int8/int8.h"
#include "backends/cpu/kernels/int8/int8_copy.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kTileRows = 16, kTileBytes = 64;

void enter(bool) { _tile_loadconfig(&kWholeTiles); }
void leave() { _tile_release(); }

// Where A is: its value 64 * s of row r lies at first + r * stride + (offsets ? offsets[s] : 64 * s).
struct Rows {
  const char* first;
  std::int64_t stride;
  const std::int32_t* offsets;
};

// What a tile's steps fetch of the weights that follow: so many lines each, as long as there are any.
struct Ahead {
  const char* at;
  std::int64_t lines, step;
  Ahead(Int8Ahead ahead, std::int64_t steps) : at(ahead.at), lines(ahead.bytes / 64), step(steps > 0 ? (lines + steps - 1) / steps : 0) {}
  void advance() {
    const std::int64_t count = step < lines ? step : lines;
    for (std::int64_t i = 0; i < count; ++i, at += 64) _mm_prefetch(at, _MM_HINT_T1);
    lines -= count;
  }
};

// Tiles 0-3 are sums [row tile][column tile], 4-5 rows of A, 6-7 columns of B.
template <bool Signed, bool Offsets, bool TwoRows, bool TwoColumns>
void product(Rows a, const char* b, std::int64_t steps, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, Ahead& ahead) {
  const std::int64_t b_step = (TwoColumns ? 2 : 1) * kTileRows * kTileBytes, bytes = c_stride * 4, next = kTileRows * a.stride;
  std::int32_t* c2 = c + kTileRows * c_stride;
  // Every row of an accumulator starts with the same values: a tile load of stride 0.
  _tile_loadd(0, init ? init : c, init ? 0 : bytes);
  if constexpr (TwoColumns) _tile_loadd(1, (init ? init : c) + 16, init ? 0 : bytes);
  if constexpr (TwoRows) _tile_loadd(2, init ? init : c2, init ? 0 : bytes);
  if constexpr (TwoRows && TwoColumns) _tile_loadd(3, (init ? init : c2) + 16, init ? 0 : bytes);
  for (std::int64_t s = 0; s < steps; ++s) {
    const char* from = a.first + (Offsets ? a.offsets[s] : s * kTileBytes);
    ahead.advance();
    _tile_loadd(6, b, kTileBytes);
    if constexpr (TwoColumns) _tile_loadd(7, b + kTileRows * kTileBytes, kTileBytes);
    _tile_loadd(4, from, a.stride);
    if constexpr (TwoRows) _tile_loadd(5, from + next, a.stride);
    multiply_int8<Signed, 0, 4, 6>();
    if constexpr (TwoColumns) multiply_int8<Signed, 1, 4, 7>();
    if constexpr (TwoRows) multiply_int8<Signed, 2, 5, 6>();
    if constexpr (TwoRows && TwoColumns) multiply_int8<Signed, 3, 5, 7>();
    b += b_step;
  }
  _tile_stored(0, c, bytes);
  if constexpr (TwoColumns) _tile_stored(1, c + 16, bytes);
  if constexpr (TwoRows) _tile_stored(2, c2, bytes);
  if constexpr (TwoRows && TwoColumns) _tile_stored(3, c2 + 16, bytes);
}

template <bool Signed, bool Offsets, bool TwoColumns>
void rows_of(std::int64_t rows, Rows a, const char* b, std::int64_t steps, const std::int32_t* init, std::int32_t* c,
             std::int64_t c_stride, Ahead ahead) {
  for (; rows > kTileRows; rows -= 2 * kTileRows, a.first += 2 * kTileRows * a.stride, c += 2 * kTileRows * c_stride)
    product<Signed, Offsets, true, TwoColumns>(a, b, steps, init, c, c_stride, ahead);
  if (rows > 0) product<Signed, Offsets, false, TwoColumns>(a, b, steps, init, c, c_stride, ahead);
}

template <bool Signed, bool Offsets>
void columns_of(int width, std::int64_t rows, Rows a, const char* b, std::int64_t k_groups, const std::int32_t* init, std::int32_t* c,
                std::int64_t c_stride, Int8Ahead ahead) {
  const std::int64_t steps = k_groups / 16;
  const Ahead soon(ahead, (rows + 2 * kTileRows - 1) / (2 * kTileRows) * steps);
  (width > 16 ? rows_of<Signed, Offsets, true> : rows_of<Signed, Offsets, false>)(rows, a, b, steps, init, c, c_stride, soon);
}

void panel(std::int64_t rows, int width, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups, const std::uint16_t*,
           const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed, Int8Ahead ahead) {
  (is_signed ? columns_of<true, false> : columns_of<false, false>)(width, rows, {a, a_stride, nullptr}, b, k_groups, init, c, c_stride,
                                                                   ahead);
}

void laid(std::int64_t rows, int width, const char* a, std::int64_t a_stride, const std::int32_t* offsets, const char* b,
          std::int64_t k_groups, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed, Int8Ahead ahead) {
  (is_signed ? columns_of<true, true> : columns_of<false, true>)(width, rows, {a, a_stride, offsets}, b, k_groups, init, c, c_stride,
                                                                 ahead);
}

}  // namespace

extern "C" const Int8Kernels TENFOLD_TABLE(int8) = {.mr = 2 * kTileRows,
                                                    .nr = 32,
                                                    .row_step = 2 * kTileRows,
                                                    .whole_rows = kTileRows,
                                                    .k_group = 4,
                                                    .k_step = 16,
                                                    .k_chunk = 1024,
                                                    .ordered = false,
                                                    .signed_shift = 0,
                                                    .expand_shifts = false,
                                                    .direct_unsigned = true,
                                                    .direct_signed = true,
                                                    .enter = enter,
                                                    .leave = leave,
                                                    .expand = int8_copy,
                                                    .panel = panel,
                                                    .taps = nullptr,
                                                    .laid = laid,
                                                    .stream = int8_stream};

}  // namespace tenfold::backends::cpu
