// What a bf16 product asks for while its micro-tiles are multiplied: the panel of B and the rows of A that come next, share by share.
#pragma once

#include "backends/cpu/gemm/bf16/gemm_bf16.h"

namespace tenfold::backends::cpu {

// Whole cache lines of `bytes` bytes, spread over `steps` steps.
inline GemmBf16Ahead whole_lines(const char* at, std::int64_t bytes, std::int64_t steps) noexcept {
  return {at, bytes / 64, ceil_div(bytes / 64, steps)};
}
// Share `share` of `shares` equal ones of what the caller reads next, to the end of one stretch at most.
inline GemmBf16Ahead share_of(const GemmBf16Windows::Next& next, std::int64_t share, std::int64_t shares, std::int64_t steps) noexcept {
  const std::int64_t bytes = next.count * next.bytes, at = bytes * share / shares / 64 * 64, offset = at % next.bytes;
  const std::int64_t end = bytes * (share + 1) / shares / 64 * 64;
  return whole_lines(next.at + at / next.bytes * next.stride + offset, std::min(end - at, next.bytes - offset), steps);
}

// Of micro-tiles of 32 rows and one panel. Whatever takes a division is done once for 32 rows and the panels that they meet.
class GemmBf16Prefetch {
 public:
  GemmBf16Prefetch(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept
      : plan_(plan), a_(call.rows.a), b_(static_cast<const char*>(call.b)), last_panel_(call.last_panel),
        panel_bytes_(plan.matrix.panel_bytes()), pairs_(ceil_div(a_.count, kMr)) {}

  // Rows [row, row + 32) of a plane meet panels [first, last): `tile` has these rows, and its steps of k are those from `k_step` on.
  void begin(const GemmBf16Tile& tile, std::int64_t plane, std::int64_t row, std::int64_t first, std::int64_t last,
             std::int64_t k_step) noexcept {
    const std::int64_t pair = plane * pairs_ + row / kMr, steps = tile.tap_count * tile.steps;
    begin_rows(tile, row, pair, first, last - first, std::max<std::int64_t>(steps, 1));
    begin_panel(pair, last - first, k_step, steps);
  }
  // For the micro-tile of one of these panels, which come in order.
  void start(std::int64_t panel, GemmBf16Tile& tile) noexcept {
    tile.rows_ahead = rows_;
    if (slice_ != 0) rows_.at += slice_;
    else rows_ = {};
    tile.panel_ahead = {};
    if (panel_.at && panel + 1 < last_panel_) tile.panel_ahead = {panel_.at + (panel + 1) * panel_bytes_, panel_.lines, panel_.each};
  }

 private:
  static constexpr std::int64_t kMr = GemmBf16Plan::kMr;

  // Rows in place: of those that follow a share with each panel. Windows: of what the caller reads next a share with the first one.
  void begin_rows(const GemmBf16Tile& tile, std::int64_t row, std::int64_t pair, std::int64_t first, std::int64_t panels,
                  std::int64_t steps) noexcept {
    rows_ = {}, slice_ = 0;
    if (plan_.a == GemmBf16Plan::A::in_place && row + 2 * kMr <= a_.count) {
      slice_ = kMr * a_.row_bytes / panels;
      rows_ = whole_lines(tile.a[0] + kMr * a_.row_bytes, slice_, steps);
    } else if (const auto* const windows = std::get_if<GemmBf16Windows>(&a_.mode); windows && windows->next.count > 0 && first == 0) {
      rows_ = share_of(windows->next, pair, pairs_ * windows->planes, steps);
    }
  }
  // Of the panel that follows, which its first rows find in no cache near. Panels inside: the first rows ask for all of it; one panel
  // after the other: all rows share that. What is split on the way is read once, line after line.
  void begin_panel(std::int64_t pair, std::int64_t panels, std::int64_t k_step, std::int64_t steps) noexcept {
    constexpr std::int64_t kManyRows = 5 * kMr;   // of two terms: fewer wait longer for lines asked for than for those needed
    const std::int64_t shares = panels > 1 ? 1 : pairs_ * a_.planes(), terms = plan_.matrix.terms;
    panel_ = {};
    if (pair >= shares || plan_.b == GemmBf16Plan::B::split_on_the_way || (terms == 2 && a_.count <= kManyRows)) return;
    const std::int64_t step_bytes = GemmBf16B::kTerm * terms * 2, bytes = steps * step_bytes, from = bytes * pair / shares / 64 * 64;
    panel_ = whole_lines(b_ + k_step * step_bytes + from, bytes * (pair + 1) / shares / 64 * 64 - from, std::max<std::int64_t>(steps, 1));
  }

  const GemmBf16Plan& plan_;
  const GemmBf16A& a_;
  const char* b_;
  std::int64_t last_panel_, panel_bytes_, pairs_;   // the last panel of the call; pairs of 16 rows in a plane
  GemmBf16Ahead rows_, panel_;   // what the next micro-tile asks for; of panel 0, the share that is asked for of the next one
  std::int64_t slice_ = 0;       // bytes from what one panel asks for to what the next one does; 0: the next one asks for nothing
};

}  // namespace tenfold::backends::cpu
