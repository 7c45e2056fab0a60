// Rows of f32 times panels of 16 columns on AMX, both in three terms of bf16.
#include "backends/cpu/kernels/conv/point_split.h"

#include "backends/cpu/kernels/amx/point_split_common.h"
#include "backends/cpu/kernels/amx/point_split_narrow.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr Heights kHeights(4, 6), kNarrowHeights(7, 7);

class Product {
 public:
  explicit Product(const PointSplit& p)
      : p_(p),
        steps_(K::steps(p.k)),
        panels_((p.columns + 15) / 16),
        tile_(p.height * 64),
        term_(tile_ * K::kGroup),
        group_(term_ * 3 * steps_),
        sums_(reinterpret_cast<float*>(p.scratch)),
        rows_(p.scratch + 8192),
        low_(_mm512_set1_ps(p.low)),
        high_(_mm512_set1_ps(p.high)) {}

  template <bool kResidual>
  void run() {
    const std::int64_t groups = K::groups(p_.rows, p_.height), tiles = (p_.rows + p_.height - 1) / p_.height;
    split_rows();
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t first = g * K::kGroup;
      switch (std::min(tiles - first, K::kGroup)) {
        case 1: group<kResidual, 1>(g); break;
        case 2: group<kResidual, 2>(g); break;
        case 3: group<kResidual, 3>(g); break;
        default: group<kResidual, 4>(g);
      }
    }
    apply_epilogue<kResidual>(waiting_, waiting_.rows);
  }

 private:
  // Sums that wait for their epilogue.
  struct Waiting {
    const float* sums = nullptr;
    std::int64_t row = 0, rows = 0;
    __mmask16 lanes = 0;
    float* c = nullptr;
    const float* residual = nullptr;
    __m512 bias = _mm512_setzero_ps();
  };

  void split_rows() const {
    for (std::int64_t r = 0, tile = 0; r < p_.rows; ++tile) {
      char* const to = rows_ + tile / K::kGroup * group_ + tile % K::kGroup * tile_;
      const std::int64_t last = std::min(r + p_.height, p_.rows);
      for (std::int64_t i = 0; r < last; ++r, ++i) split_row(p_.a + r * p_.a_stride, to + i * 64);
    }
  }
  void split_row(const float* from, char* to) const {
    const std::int64_t term_bytes = term_;
    for (std::int64_t left = p_.k; left > 0; left -= 32, from += 32, to += 3 * term_bytes) {
      __m512i term[3];
      split_in_pairs(_mm512_maskz_loadu_ps(lanes_of(left), from), _mm512_maskz_loadu_ps(lanes_of(left - 16), from + 16), term);
      for (int j = 0; j < 3; ++j) _mm512_store_si512(to + j * term_bytes, term[j]);
    }
  }

  // `count` rows more.
  template <bool kResidual>
  void apply_epilogue(Waiting& w, std::int64_t count) const {
    const __m512 low = low_, high = high_, bias = w.bias;
    const __mmask16 lanes = w.lanes;
    const std::int64_t to = std::min(w.row + count, w.rows), stride = p_.c_stride, residual_stride = p_.residual_stride;
    const float *sums = w.sums + w.row * 16, *residual = kResidual ? w.residual + w.row * residual_stride : nullptr;
    float* c = w.c + w.row * stride;
    for (std::int64_t row = w.row; row < to; ++row, sums += 16, c += stride) {
      __m512 v = _mm512_add_ps(_mm512_load_ps(sums), bias);
      if constexpr (kResidual) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(lanes, residual)), residual += residual_stride;
      _mm512_mask_storeu_ps(c, lanes, _mm512_min_ps(high, _mm512_max_ps(low, v)));  // keeps NaN
    }
    w.row = to;
  }

  template <bool kResidual, int kTiles>
  void group(std::int64_t g) {
    const std::int64_t first_row = g * K::kGroup * p_.height, rows = std::min<std::int64_t>(kTiles * p_.height, p_.rows - first_row);
    for (std::int64_t panel = 0; panel < panels_; ++panel) {
      const __mmask16 lanes = lanes_of(p_.columns - panel * 16);
      Waiting next{.sums = sums_ + turn_ * kSumsFloats,
                   .rows = rows,
                   .lanes = lanes,
                   .c = p_.c + first_row * p_.c_stride + panel * 16,
                   .residual = kResidual ? p_.residual + first_row * p_.residual_stride + panel * 16 : nullptr,
                   .bias = p_.bias ? _mm512_maskz_loadu_ps(lanes, p_.bias + panel * 16) : _mm512_setzero_ps()};
      sum<kResidual, kTiles>(g, panel, next);
      apply_epilogue<kResidual>(waiting_, waiting_.rows);
      turn_ ^= 1;
      waiting_ = next;
    }
  }

  // Meanwhile rows that wait get their epilogue, lines are asked for where this product's will go, and in the first group columns that come
  // later.
  template <bool kResidual, int kTiles>
  void sum(std::int64_t g, std::int64_t panel, const Waiting& own) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    const std::int64_t steps = steps_, term = term_, tile_bytes = tile_, stride = p_.c_stride, residual_stride = p_.residual_stride;
    const std::int64_t each = (waiting_.rows + kTiles * steps - 1) / (kTiles * steps),
                       prefetches = (own.rows + kTiles * steps - 1) / (kTiles * steps);
    const bool fetches = g == 0;
    const char *a = rows_ + g * group_, *b = reinterpret_cast<const char*>(p_.panels) + panel * steps * 3 * kTileBytes;
    const float* residual = own.residual;
    float* c = own.c;
    float* const sums = sums_ + turn_ * kSumsFloats;
    std::int64_t unfetched = own.rows;
    Waiting before = waiting_;
    for (std::int64_t s = 0; s < steps; ++s, a += 3 * term, b += 3 * kTileBytes) {
      _tile_loadd(4, b, 64);
      _tile_loadd(5, b + kTileBytes, 64);
      _tile_loadd(6, b + 2 * kTileBytes, 64);
      const auto tile = [&](auto t) {
        constexpr int kT = decltype(t)::value;
        const char* const from = a + kT * tile_bytes;
        _tile_loadd(7, from + 2 * term, 64);
        add_rows<kT, 1>();
        if (fetches)
          for (int j = 0; j < 48 / kTiles; ++j) _mm_prefetch(b + kAhead * 3 * kTileBytes + (kT * 48 / kTiles + j) * 64, _MM_HINT_T1);
        _tile_loadd(7, from + term, 64);
        add_rows<kT, 2>();
        for (std::int64_t j = std::min(prefetches, unfetched); j > 0; --j, --unfetched, c += stride) {
          _m_prefetchw(c);
          if constexpr (kResidual) _mm_prefetch(residual, _MM_HINT_T0), residual += residual_stride;
        }
        _tile_loadd(7, from, 64);
        add_rows<kT, 3>();
        apply_epilogue<kResidual>(before, each);
        if (s + 1 == steps) store_tile<kT>(sums + kT * tile_bytes / 4, 64);
      };
      tile(std::integral_constant<int, 0>());
      if constexpr (kTiles > 1) tile(std::integral_constant<int, 1>());
      if constexpr (kTiles > 2) tile(std::integral_constant<int, 2>());
      if constexpr (kTiles > 3) tile(std::integral_constant<int, 3>());
    }
    waiting_ = before;
  }

  const PointSplit& p_;
  const std::int64_t steps_, panels_, tile_, term_, group_;  // bytes of a tile of rows, of a group's tiles of a term, of a group
  float* const sums_;
  char* const rows_;
  const __m512 low_, high_;
  int turn_ = 0;
  Waiting waiting_;
};

void run(const PointSplit& p) {
  _tile_loadconfig(&kHeights.of[p.height]);
  p.residual ? Product(p).run<true>() : Product(p).run<false>();
  _tile_release();
}

void run_narrow(const PointSplit& p) {
  _tile_loadconfig(&kNarrowHeights.of[p.height]);
  const auto run = [&](auto&& product) { p.residual ? product.template run<true>() : product.template run<false>(); };
  p.k <= K::kStacked ? run(NarrowProduct<true>(p)) : run(NarrowProduct<false>(p));
  _tile_release();
}

}  // namespace

extern "C" const PointSplitKernels TENFOLD_TABLE(point_split) = {run, run_narrow};

}  // namespace tenfold::backends::cpu
