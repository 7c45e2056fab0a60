// Rows of f32 times few panels of 16 columns on AMX: a tile of rows at a time, split while the products of those before it run.
#pragma once

#include "backends/cpu/kernels/amx/point_split_common.h"

namespace tenfold::backends::cpu {
namespace {

// `kStacked`: k is at most 16, and terms lie side by side in one step.
template <bool kStacked>
class NarrowProduct {
 public:
  explicit NarrowProduct(const PointSplit& p)
      : p_(p),
        steps_(K::steps(p.k)),
        panels_((p.columns + 15) / 16),
        tiles_((p.rows + p.height - 1) / p.height),
        groups_((panels_ + K::kGroup - 1) / K::kGroup),
        slots_(K::narrow_slots(p.k, p.columns)),
        sums_(reinterpret_cast<float*>(p.scratch)),
        rows_(p.scratch + 8192),
        low_(_mm512_set1_ps(p.low)),
        high_(_mm512_set1_ps(p.high)) {}

  template <bool kResidual>
  void run() {
    const std::int64_t ahead = groups_ > 1 ? steps_ : 2;
    for (std::int64_t i = 0; i < ahead; ++i, next_split()) split_some_rows(split_, 0, 16);
    for (std::int64_t tile = 0; tile < tiles_; ++tile)
      for (std::int64_t g = 0; g < groups_; ++g) {
        const std::int64_t first = g * panels_ / groups_, count = (g + 1) * panels_ / groups_ - first;
        switch (count) {
          case 1: panels<kResidual, 1>(tile, first, g); break;
          case 2: panels<kResidual, 2>(tile, first, g); break;
          case 3: panels<kResidual, 3>(tile, first, g); break;
          default: panels<kResidual, 4>(tile, first, g);
        }
      }
    apply_epilogues<kResidual>();
  }

 private:
  struct Split {  // the step of the rows that is split next
    std::int64_t tile = 0, step = 0, slot = 0;
  };
  struct Waiting {
    const float* sums = nullptr;
    std::int64_t row = 0, rows = 0;
    int panels = 1;
    __mmask16 lanes = 0;  // of the last panel
    float* c = nullptr;
    const float* residual = nullptr;
    __m512 bias[K::kGroup];
  };

  void next_split() {
    split_.slot = split_.slot + 1 == slots_ ? 0 : split_.slot + 1;
    if (++split_.step == steps_) split_.step = 0, ++split_.tile;
  }
  // Rows [first, last) of the tile, as far as it has them.
  void split_some_rows(const Split& split, std::int64_t first, std::int64_t last) const {
    const std::int64_t row = split.tile * p_.height, left = p_.k - split.step * 32, stride = p_.a_stride;
    last = std::min({last, static_cast<std::int64_t>(p_.height), p_.rows - row});
    const __mmask16 lanes1 = lanes_of(left), lanes2 = lanes_of(left - 16);
    const float* from = p_.a + (row + first) * stride + split.step * 32;
    char* to = rows_ + split.slot * K::kStepBytes + first * 64;
    for (std::int64_t r = first; r < last; ++r, from += stride, to += 64) {
      __m512i term[3];
      if constexpr (kStacked)
        split_in_stacks(_mm512_maskz_loadu_ps(lanes1, from), term);
      else
        split_in_pairs(_mm512_maskz_loadu_ps(lanes1, from), _mm512_maskz_loadu_ps(lanes2, from + 16), term);
      for (int j = 0; j < 3; ++j) _mm512_store_si512(to + j * kTileBytes, term[j]);
    }
  }

  template <bool kResidual, int kPanels>
  void apply_epilogue(std::int64_t count) {
    Waiting& w = waiting_;
    const __m512 low = low_, high = high_;
    const __mmask16 lanes = w.lanes;
    const std::int64_t to = std::min(w.row + count, w.rows), stride = p_.c_stride, residual_stride = p_.residual_stride;
    const float* sums = w.sums + w.row * 16;
    float* c = w.c + w.row * stride;
    const float* residual = kResidual ? w.residual + w.row * residual_stride : nullptr;
    for (std::int64_t row = w.row; row < to; ++row, sums += 16, c += stride) {
      for (int j = 0; j < kPanels; ++j) {
        const __mmask16 known = j + 1 < kPanels ? 0xffff : lanes;
        __m512 v = _mm512_add_ps(_mm512_load_ps(sums + j * 256), w.bias[j]);
        if constexpr (kResidual) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(known, residual + j * 16));
        _mm512_mask_storeu_ps(c + j * 16, known, _mm512_min_ps(high, _mm512_max_ps(low, v)));  // keeps NaN
      }
      if constexpr (kResidual) residual += residual_stride;
    }
    w.row = to;
  }
  template <bool kResidual>
  void apply_epilogues() {
    switch (waiting_.panels) {
      case 1: return apply_epilogue<kResidual, 1>(16);
      case 2: return apply_epilogue<kResidual, 2>(16);
      case 3: return apply_epilogue<kResidual, 3>(16);
      default: return apply_epilogue<kResidual, 4>(16);
    }
  }

  template <bool kResidual, int kPanels>
  void panels(std::int64_t tile, std::int64_t first, std::int64_t group) {
    if (waiting_.panels != kPanels) apply_epilogues<kResidual>();
    sum<kResidual, kPanels>(first, group * steps_);
    if (group + 1 == groups_) use_ = use_ + steps_ >= slots_ ? (use_ + steps_) % slots_ : use_ + steps_;
    apply_epilogue<kResidual, kPanels>(16);
    const std::int64_t row = tile * p_.height, column = first * 16;
    waiting_ = {.sums = sums_ + turn_ * kSumsFloats,
                .rows = std::min<std::int64_t>(p_.height, p_.rows - row),
                .panels = kPanels,
                .lanes = lanes_of(p_.columns - column - (kPanels - 1) * 16),
                .c = p_.c + row * p_.c_stride + column,
                .residual = kResidual ? p_.residual + row * p_.residual_stride + column : nullptr};
    for (int j = 0; j < kPanels; ++j)
      waiting_.bias[j] =
          p_.bias ? _mm512_maskz_loadu_ps(lanes_of(p_.columns - column - j * 16), p_.bias + column + j * 16) : _mm512_setzero_ps();
    turn_ ^= 1;
  }

  // Meanwhile rows that wait get their epilogue, and rows of the tiles to come are split: a step in each step, or in as many as there are
  // groups.
  template <bool kResidual, int kPanels>
  void sum(std::int64_t first, std::int64_t done) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    const std::int64_t steps = steps_, step_bytes = kStacked ? 2 * kTileBytes : K::kStepBytes, panel_bytes = steps * step_bytes;
    const std::int64_t each = (waiting_.rows + kPanels * steps - 1) / (kPanels * steps);
    const char* b = reinterpret_cast<const char*>(p_.panels) + first * panel_bytes;
    float* const sums = sums_ + turn_ * kSumsFloats;
    std::int64_t use = use_;
    for (std::int64_t s = 0; s < steps; ++s, b += step_bytes) {
      const char* const a = rows_ + use * K::kStepBytes;
      use = use + 1 == slots_ ? 0 : use + 1;
      const Split split = split_;
      const bool splits = (done + s) % groups_ == 0;
      if (splits) next_split();
      _tile_loadd(4, a, 64);
      _tile_loadd(5, a + kTileBytes, 64);
      _tile_loadd(6, a + 2 * kTileBytes, 64);
      const auto panel = [&](auto number) {
        constexpr int kP = decltype(number)::value;
        const char* const from = b + kP * panel_bytes;
        _tile_loadd(7, from + (kStacked ? 1 : 2) * kTileBytes, 64);
        add_columns<kP, 1>();
        if (splits) split_some_rows(split, kP * 16 / kPanels, (kP + 1) * 16 / kPanels);
        if constexpr (!kStacked) {
          _tile_loadd(7, from + kTileBytes, 64);
          add_columns<kP, 2>();
        }
        apply_epilogue<kResidual, kPanels>(each);
        _tile_loadd(7, from, 64);
        if constexpr (kStacked)
          add_stacks<kP>();
        else
          add_columns<kP, 3>();
        if (s + 1 == steps) store_tile<kP>(sums + kP * 256, 64);
      };
      panel(std::integral_constant<int, 0>());
      if constexpr (kPanels > 1) panel(std::integral_constant<int, 1>());
      if constexpr (kPanels > 2) panel(std::integral_constant<int, 2>());
      if constexpr (kPanels > 3) panel(std::integral_constant<int, 3>());
    }
  }

  const PointSplit& p_;
  const std::int64_t steps_, panels_, tiles_, groups_, slots_;
  float* const sums_;
  char* const rows_;
  const __m512 low_, high_;
  Split split_;
  std::int64_t use_ = 0;  // the slot of the tile's first step
  int turn_ = 0;
  Waiting waiting_{};
};

}  // namespace
}  // namespace tenfold::backends::cpu
