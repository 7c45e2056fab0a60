// The product of kernels/gemm/gemm_s24.h: six tiles of sums, one of rows, one of weights.
#include "backends/cpu/kernels/gemm/gemm_s24.h"

#include "backends/cpu/kernels/amx/tile_shapes.h"
#include "backends/cpu/kernels/gemm/fixed_row.h"
#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kStepBytes = 64, kTileBytes = 1024, kColumns = GemmS24Kernels::kColumns;

void enter(int rows) {
  TileShapes shapes = kWholeTiles;
  for (int tile = 0; tile < 7; ++tile) shapes.rows[tile] = static_cast<std::uint8_t>(rows);
  asm volatile("" : : "r"(&shapes) : "memory");   // GCC 12 takes the next line to read eight bytes alone
  _tile_loadconfig(&shapes);
}
void leave() { _tile_release(); }

bool slice(const float* row, const float* balance, std::int64_t k, char* to, float* scale) {
  const FixedRow fixed(row, balance, k, 0x7f7e00);   // 0x7f7f7f is the largest of three signed bytes
  *scale = fixed.unit() * 65536;
  const std::int64_t padded = (k + 63) / 64 * 64;
  const __m512 times = _mm512_set1_ps(fixed.scale());
  const auto store = [](char* at, __m512i a, __m512i b) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm512_cvtepi32_epi8(a));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at + 16), _mm512_cvtepi32_epi8(b));
  };
  fixed.for_each_two([&](std::int64_t i, __m512 first, __m512 second) {
    // Bytes are signed: what is left below one of them is rounded into it.
    __m512i a = _mm512_cvtps_epi32(_mm512_mul_ps(first, times)), b = _mm512_cvtps_epi32(_mm512_mul_ps(second, times));
    for (int slice = 2;; --slice) {
      store(to + slice * padded + i, a, b);
      if (slice == 0) break;
      const __m512i half = _mm512_set1_epi32(128);
      a = _mm512_srai_epi32(_mm512_add_epi32(a, half), 8), b = _mm512_srai_epi32(_mm512_add_epi32(b, half), 8);
    }
  });
  for (std::int64_t i = (k + 31) / 32 * 32; i < padded; i += 32)
    for (int slice = 0; slice < 3; ++slice)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + slice * padded + i), _mm256_setzero_si256());
  return fixed.ordinary();
}

// Sums 0 to 2 are of the first 16 columns, 3 to 5 of the others; what is worth most comes first.
inline void step_of(const char* a, std::int64_t row_bytes, std::int64_t slice, const char* b) {
  _tile_loadd(6, a, row_bytes);
  _tile_loadd(7, b, kStepBytes);
  _tile_dpbssd(0, 6, 7);
  _tile_loadd(7, b + kTileBytes, kStepBytes);
  _tile_dpbssd(3, 6, 7);
  _tile_loadd(7, b + 2 * kTileBytes, kStepBytes);
  _tile_dpbssd(1, 6, 7);
  _tile_loadd(7, b + 3 * kTileBytes, kStepBytes);
  _tile_dpbssd(4, 6, 7);
  _tile_loadd(7, b + 4 * kTileBytes, kStepBytes);
  _tile_dpbssd(2, 6, 7);
  _tile_loadd(7, b + 5 * kTileBytes, kStepBytes);
  _tile_dpbssd(5, 6, 7);
  _tile_loadd(6, a + slice, row_bytes);
  _tile_loadd(7, b, kStepBytes);
  _tile_dpbssd(1, 6, 7);
  _tile_loadd(7, b + 2 * kTileBytes, kStepBytes);
  _tile_dpbssd(2, 6, 7);
  _tile_loadd(7, b + 3 * kTileBytes, kStepBytes);
  _tile_dpbssd(5, 6, 7);
  _tile_loadd(7, b + kTileBytes, kStepBytes);
  _tile_dpbssd(4, 6, 7);
  _tile_loadd(6, a + 2 * slice, row_bytes);
  _tile_dpbssd(5, 6, 7);
  _tile_loadd(7, b, kStepBytes);
  _tile_dpbssd(2, 6, 7);
}

constexpr int kWorth = GemmS24Kernels::kRows * kColumns;   // from sums to those worth less

// Applies the epilogue to rows of waiting sums, one after the other.
class RowEpilogues {
 public:
  explicit RowEpilogues(const GemmS24Waiting& w) : w_(w), tile_(w.tile), epilogue_(w.epilogue) {
    tile_.epilogue = w.has_epilogue ? &epilogue_ : nullptr;
    if (w.rows > 0) step_[0] = load(w.step), step_[1] = load(w.step + kLanes);
  }
  inline __attribute__((always_inline)) void until(std::int64_t last) {
    for (; row_ < (last < w_.rows ? last : w_.rows); ++row_) one();
  }

 private:
  inline __attribute__((always_inline)) void one() {
    vf sum[1][2];
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const std::int32_t* const at = w_.sums + row_ * kColumns + v * kLanes;
      const vf high = to_float(loadi(at)), middle = to_float(loadi(at + kWorth)), low = to_float(loadi(at + 2 * kWorth));
      sum[0][v] = mul(mul(fma(fma(high, set1(256), middle), set1(256), low), step_[v]), set1(w_.row_scale[row_]));
    }
    store_sums(sum, tile_);
    tile_.c += tile_.c_stride;
    if (epilogue_.residual) epilogue_.residual += epilogue_.residual_stride;
  }
  const GemmS24Waiting& w_;
  GemmF32Tile tile_;
  GemmF32EpilogueArgs epilogue_;
  vf step_[2] = {zero(), zero()};
  std::int64_t row_ = 0;
};

void epilogue(const GemmS24Waiting& waiting) { RowEpilogues(waiting).until(waiting.rows); }

void product(const GemmS24Tile& g, std::int32_t* sums, const GemmS24Waiting& before) {
  RowEpilogues epilogues(before);
  const std::int64_t each = (GemmS24Kernels::kRows + g.steps - 1) / (g.steps > 0 ? g.steps : 1);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  const char *a = g.rows, *b = g.panel, *ahead = g.ahead;
  for (std::int64_t s = 0; s < g.steps; ++s, a += kStepBytes, b += GemmS24Kernels::kStepBytes) {
    for (std::int64_t i = 0; i < g.lines; ++i, ahead += 64) _mm_prefetch(ahead, _MM_HINT_T1);
    step_of(a, g.row_bytes, g.steps * kStepBytes, b);
    epilogues.until((s + 1) * each);
  }
  epilogues.until(before.rows);   // of a product without steps
  _tile_stored(0, sums, kColumns * 4);
  _tile_stored(1, sums + kWorth, kColumns * 4);
  _tile_stored(2, sums + 2 * kWorth, kColumns * 4);
  _tile_stored(3, sums + kLanes, kColumns * 4);
  _tile_stored(4, sums + kWorth + kLanes, kColumns * 4);
  _tile_stored(5, sums + 2 * kWorth + kLanes, kColumns * 4);
}

}  // namespace

extern "C" const GemmS24Kernels TENFOLD_TABLE(gemm_s24) = {enter, leave, slice, product, epilogue};

}  // namespace tenfold::backends::cpu
