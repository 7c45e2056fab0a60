// GemmBf16Plan::MicroKernel::strips: 16 rows of A at a time go by pairs of panels, whose loop is the micro-kernel's own.
#include "backends/cpu/gemm/bf16/gemm_bf16_loops.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_prefetch.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kRows = GemmBf16Strip::kRows;

class Strips {
 public:
  Strips(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept
      : b_(plan.matrix),
        call_(call),
        a_(call.rows.a),
        in_place_(plan.a == GemmBf16Plan::A::in_place),
        windows_(std::get_if<GemmBf16Windows>(&a_.mode)),
        tiles_(ceil_div(a_.count, kRows)),
        all_tiles_(tiles_ * a_.planes()),
        state_(call.bound.epilogue, reinterpret_cast<float*>(call.scratch)) {
    const Bf16Epilogue::Binding& c = call.bound;
    strip_.steps = b_.taps * b_.steps();
    for (std::int64_t i = 0; i < strip_.steps; ++i) strip_.offsets[i] = a_.taps[i / b_.steps()] + i % b_.steps() * 64;
    if (!c.epilogue.residual || c.epilogue.residual_stride == c.out_stride) step_ = c.out_stride * 2;
    strip_.panels = static_cast<const std::uint16_t*>(call.b), strip_.panel = b_.panel();
    // Narrow results lie near, and wide rows are fetched by the hardware: asking for either takes a fifth more time.
    strip_.prefetch = b_.n > b_.k || (windows_ && windows_->next.count > 0);
  }
  // All rows times panels [first, last).
  void run(std::int64_t first, std::int64_t last) noexcept {
    strip_.first = first, strip_.last = last;
    for (std::int64_t plane = 0, planes = a_.planes(); plane < planes; ++plane)
      for (std::int64_t row = 0; row < a_.count; row += kRows) multiply(plane, row);
  }
  void finish() noexcept { kernels_.epilogues(state_); }

 private:
  void multiply(std::int64_t plane, std::int64_t row) noexcept {
    const GemmBf16A::Tile at = a_.tile(plane, row);
    strip_.a = at.first, strip_.row_bytes = at.row_bytes;
    place_results(plane, row);
    look_ahead(plane * tiles_ + row / kRows, row);
    kernels_.multiply(strip_, state_);
  }
  void place_results(std::int64_t plane, std::int64_t row) noexcept {
    GemmBf16Waiting::Row* const table = epilogue_rows_[turn_];
    turn_ = turn_ == 2 ? 0 : turn_ + 1;
    strip_.rows = {.table = table};
    call_.rows.c.for_each_line(plane, row, std::min(row + kRows, a_.count), [&](const Bf16Epilogue::Rows& c, std::int64_t at) {
      if (c.count == kRows && step_ != 0) strip_.rows.step = c.step * step_;
      call_.epilogue.place(call_.bound, {c.first, strip_.rows.step != 0 ? 1 : c.count, c.step}, at * kRows, table + strip_.rows.count,
                           kRows);
      strip_.rows.count += c.count;
    });
  }
  // The rows after the next ones, or a share of what the caller reads next; of the panels that follow a share, or, where all of them go
  // round for each strip, all with the first one.
  void look_ahead(std::int64_t tile, std::int64_t row) noexcept {
    const std::int64_t pairs = (strip_.last - strip_.first) / 2;
    strip_.rows_ahead = {};
    if (in_place_ && strip_.prefetch && row + 3 * kRows <= a_.count)
      strip_.rows_ahead = whole_lines(strip_.a + 2 * kRows * a_.row_bytes, kRows * a_.row_bytes, pairs);
    else if (windows_ && windows_->next.count > 0 && strip_.first == 0)
      strip_.rows_ahead = share_of(windows_->next, tile, all_tiles_, pairs);
    const std::int64_t next = strip_.first + 2, bytes = (std::min(strip_.last + 2, call_.last_panel) - next) * b_.panel_bytes();
    strip_.panels_ahead = {};
    if (bytes <= 0 || (pairs > 1 && tile > 0)) return;
    const std::int64_t shares = pairs > 1 ? 1 : all_tiles_, from = bytes * tile / shares / 64 * 64;
    strip_.panels_ahead = whole_lines(reinterpret_cast<const char*>(strip_.panels) + next * b_.panel_bytes() + from,
                                      bytes * (tile + 1) / shares / 64 * 64 - from, pairs);
  }

  const GemmBf16Strips& kernels_ = *gemm_bf16_tables.strips;
  const GemmBf16B& b_;
  const GemmBf16Call& call_;
  const GemmBf16A& a_;
  bool in_place_;
  const GemmBf16Windows* windows_;   // null in the other modes of A
  std::int64_t tiles_, all_tiles_;   // of 16 rows, of a plane and of all
  std::int64_t step_ = 0;   // bytes from a result to the next one, and from a residual; 0: they differ
  GemmBf16Strip strip_;
  GemmBf16StripState state_;
  GemmBf16Waiting::Row epilogue_rows_[3][kRows];   // two strips still wait with theirs
  int turn_ = 0;
};

}  // namespace

void gemm_bf16_strips(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept {
  const std::int64_t panels = plan.loops == GemmBf16Plan::Loops::panels_inside ? plan.nc() / GemmBf16Plan::kNr : 2;
  Strips strips(plan, call);
  for (std::int64_t jc = call.first_panel; jc < call.last_panel; jc += panels) strips.run(jc, std::min(jc + panels, call.last_panel));
  strips.finish();
}

}  // namespace tenfold::backends::cpu
