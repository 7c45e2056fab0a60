// B of a bf16 product, (taps * k) x n: packed into panels of 32 columns, as the micro-kernel reads them.
#pragma once

#include "backends/tactic.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

struct GemmBf16B {
  std::int64_t taps = 1, k = 0, n = 0;
  DType type = DType::bf16;
  int terms = 1;   // of an f32: two have 16 of its 24 bits, three have all

  static constexpr std::int64_t kTerm = 1024;   // values from one term to the next: a step of k in 32 columns
  bool kept_as_f32() const { return terms == 3; }   // a product splits it on the way
  std::int64_t steps() const { return ceil_div(k, 32); }   // of a tap
  std::int64_t depth() const { return taps * steps() * 32; }
  std::int64_t panels() const { return ceil_div(n, 32); }
  std::int64_t panel() const { return 32 * depth() * terms; }   // values
  std::int64_t values() const { return panels() * panel(); }
  std::int64_t panel_bytes() const { return kept_as_f32() ? 32 * depth() * 4 : panel() * 2; }   // where they are kept
  // Of a value's first term.
  std::int64_t slot(std::int64_t tap, std::int64_t i, std::int64_t column) const {
    const std::int64_t step = tap * steps() + i / 32, stored = kept_as_f32() ? 1 : terms;
    return column / 32 * 32 * depth() * stored + step * kTerm * stored + column % 32 / 16 * 512 + i % 32 / 2 * 32 + column % 16 * 2 + i % 2;
  }
  std::int64_t bytes() const { return panels() * panel_bytes() + (kept_as_f32() ? 64 : 0); }
  // Behind panels of f32: whether all values are finite. Such are split without a look at each.
  char* finite(void* packed) const { return kept_as_f32() ? static_cast<char*>(packed) + panels() * panel_bytes() : nullptr; }
  // Values of a panel that a product reads: steps of terms that were split on the way go in pairs.
  std::int64_t split_panel() const { return kept_as_f32() ? round_up(taps * steps(), 2) * 32 * 32 * terms : panel(); }
};

}  // namespace tenfold::backends::cpu
