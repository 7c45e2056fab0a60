// The loops of a bf16 product over strips of 16 rows.
#include "backends/cpu/gemm/gemm_bf16_strips.h"

#include "backends/cpu/gemm/gemm_bf16_lines.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kRows = GemmBf16Strip::kRows;

GemmBf16Ahead whole_lines(const char* at, std::int64_t bytes, std::int64_t pairs) { return {at, bytes / 64, ceil_div(bytes / 64, pairs)}; }

class Strips {
 public:
  Strips(const GemmBf16Weights& w, const void* packed, const GemmBf16Rows& rows, std::int64_t last_panel, const Bf16Epilogue& epilogue,
         const Bf16Epilogue::Binding& bound, float* sums) noexcept
      : w_(w),
        rows_(rows),
        epilogue_(epilogue),
        bound_(bound),
        last_panel_(last_panel),
        tiles_(ceil_div(rows.count, kRows)),
        state_(bound.epilogue, sums) {
    strip_.steps = w.taps * w.steps();
    for (std::int64_t i = 0; i < strip_.steps; ++i) strip_.offsets[i] = rows.taps[i / w.steps()] + i % w.steps() * 64;
    if (!bound.epilogue.residual || bound.epilogue.residual_stride == bound.out_stride) step_ = bound.out_stride * 2;
    strip_.panels = static_cast<const std::uint16_t*>(packed), strip_.panel = w.panel();
    // Narrow results lie near, and wide rows are fetched by the hardware: asking for either takes a fifth more time.
    wide_ = w.n > w.k || rows.soon.count > 0;
    strip_.ask = wide_;
  }
  // All rows times panels [first, last).
  void run(std::int64_t first, std::int64_t last) noexcept {
    strip_.first = first, strip_.last = last;
    for (std::int64_t segment = 0; segment < rows_.segments; ++segment)
      for (std::int64_t row = 0; row < rows_.count; row += kRows) multiply(segment, row);
  }
  void last_epilogues() noexcept { kernels_.epilogues(state_); }

 private:
  void multiply(std::int64_t segment, std::int64_t row) noexcept {
    GemmBf16Waiting::Row* const table = epilogue_rows_[turn_];
    turn_ = turn_ == 2 ? 0 : turn_ + 1;
    strip_.rows = {.table = table};
    for_each_line(rows_, segment, row, kRows, [&](const Bf16Epilogue::Rows& c, std::int64_t at) {
      if (c.count == kRows && step_ != 0) strip_.rows.step = c.step * step_;
      epilogue_.place(bound_, {c.first, strip_.rows.step != 0 ? 1 : c.count, c.step}, at * kRows, table + strip_.rows.count, kRows);
      strip_.rows.count += c.count;
    });
    const RowsOfTile at = rows_of_tile(rows_, segment, row, kRows);
    strip_.a = at.first, strip_.row_bytes = at.bytes;
    look_ahead(segment * tiles_ + row / kRows, row);
    kernels_.multiply(strip_, state_);
  }
  // The rows after the next ones, or a share of what the caller reads next; of the panels that follow a share, or, where all of them go
  // round for each strip, all with the first one.
  void look_ahead(std::int64_t tile, std::int64_t row) noexcept {
    const std::int64_t pairs = (strip_.last - strip_.first) / 2, all = tiles_ * rows_.segments;
    strip_.rows_ahead = {};
    if (rows_.far && wide_ && row + 3 * kRows <= rows_.count)
      strip_.rows_ahead = whole_lines(strip_.a + 2 * kRows * rows_.row_bytes, kRows * rows_.row_bytes, pairs);
    else if (rows_.soon.count > 0 && strip_.first == 0)
      strip_.rows_ahead = share_of_soon(tile, all, pairs);
    const std::int64_t next = strip_.first + 2, bytes = (std::min(strip_.last + 2, last_panel_) - next) * w_.panel_bytes();
    strip_.panels_ahead = {};
    if (bytes <= 0 || (pairs > 1 && tile > 0)) return;
    const std::int64_t shares = pairs > 1 ? 1 : all, from = bytes * tile / shares / 64 * 64;
    strip_.panels_ahead = whole_lines(reinterpret_cast<const char*>(strip_.panels) + next * w_.panel_bytes() + from,
                                      bytes * (tile + 1) / shares / 64 * 64 - from, pairs);
  }
  // To the end of one stretch at most.
  GemmBf16Ahead share_of_soon(std::int64_t tile, std::int64_t all, std::int64_t pairs) const noexcept {
    const GemmBf16Rows::Soon& soon = rows_.soon;
    const std::int64_t bytes = soon.count * soon.bytes, at = bytes * tile / all / 64 * 64, offset = at % soon.bytes;
    const std::int64_t end = bytes * (tile + 1) / all / 64 * 64;
    return whole_lines(soon.at + at / soon.bytes * soon.stride + offset, std::min(end - at, soon.bytes - offset), pairs);
  }

  const GemmBf16Strips& kernels_ = *gemm_bf16_tables.strips;
  const GemmBf16Weights& w_;
  const GemmBf16Rows& rows_;
  const Bf16Epilogue& epilogue_;
  const Bf16Epilogue::Binding& bound_;
  std::int64_t last_panel_, tiles_;
  std::int64_t step_ = 0;   // bytes from a result to the next one, and from a residual; 0: they differ
  bool wide_ = false;
  GemmBf16Strip strip_;
  GemmBf16StripState state_;
  GemmBf16Waiting::Row epilogue_rows_[3][kRows];   // two strips still wait with theirs
  int turn_ = 0;
};

}  // namespace

bool takes_strips(const GemmBf16Weights& w, std::int64_t first_panel, std::int64_t last_panel, const Bf16Epilogue& epilogue) noexcept {
  constexpr std::int64_t kMostBytes = 1 << 18;   // 256 to 1024 channels: rows come from the second cache for each pair
  const std::int64_t steps = w.taps * w.steps();
  return w.terms == 1 && steps > 0 && steps <= GemmBf16Strip::kMostSteps && w.bytes() <= kMostBytes &&
         (last_panel - first_panel) % 2 == 0 && last_panel * 32 <= w.n && epilogue.all_bf16();
}

void gemm_bf16_strips(const GemmBf16Weights& w, const void* packed, const GemmBf16Rows& rows, std::int64_t first_panel,
                      std::int64_t last_panel, bool panels_inside, const Bf16Epilogue& epilogue, const Bf16Epilogue::Binding& bound,
                      float* sums) noexcept {
  Strips strips(w, packed, rows, last_panel, epilogue, bound, sums);
  gemm_bf16_kernels().enter();
  for (std::int64_t panel = first_panel; panel < last_panel;) {
    const std::int64_t last = panels_inside ? std::min(panel + GemmBf16Rows::kColumns / 32, last_panel) : panel + 2;
    strips.run(panel, last);
    panel = last;
  }
  strips.last_epilogues();
  gemm_bf16_kernels().leave();
}

}  // namespace tenfold::backends::cpu
