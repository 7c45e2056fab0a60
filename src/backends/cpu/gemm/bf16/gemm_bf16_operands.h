// What the micro-kernel is given of A and B for 32 rows and a panel, and what it asks for meanwhile.
#pragma once

#include "backends/cpu/gemm/bf16/gemm_bf16_prefetch.h"

namespace tenfold::backends::cpu {

class GemmBf16Operands {
 public:
  // `split`: memory for panels that are split on the way.
  GemmBf16Operands(const GemmBf16Plan& plan, const GemmBf16Call& call, void* split) noexcept
      : plan_(plan),
        a_(call.rows.a),
        b_(static_cast<const char*>(call.b)),
        split_(static_cast<std::uint16_t*>(split)),
        prefetch_(plan, call) {
    const GemmBf16B& b = plan.matrix;
    tile_.taps = a_.taps, tile_.tap_count = b.taps, tile_.steps = b.steps();
    tile_.terms = b.terms, tile_.low = a_.term_bytes;
    tile_.finite = plan.b == GemmBf16Plan::B::split_on_the_way && b_[b.panels() * b.panel_bytes()] != 0;
    panel_values_ = b.split_panel();
    one_pair_ = a_.planes() == 1 && a_.count <= GemmBf16Plan::kMr;
    share_out_epilogues();
  }
  const GemmBf16Tile& tile() const noexcept { return tile_; }

  // K::in_pieces: the micro-tiles that follow take this piece, and add to the sums of those before.
  void begin_piece(std::int64_t piece) noexcept {
    const std::int64_t steps = plan_.matrix.steps();
    k_step_ = piece * steps / plan_.k_pieces;
    tile_.steps = (piece + 1) * steps / plan_.k_pieces - k_step_;
    tile_.add = piece > 0;
    share_out_epilogues();
  }
  // Panels from this one on follow; those split before are forgotten.
  void begin_panels(std::int64_t first) noexcept { first_split_ = first; }

  // The micro-tiles of rows [row, row + 32) of a plane and panels [first, last) follow.
  void begin_rows(std::int64_t plane, std::int64_t row, std::int64_t first, std::int64_t last) noexcept {
    for (int i = 0; i < 2; ++i, row += GemmBf16A::kTile) {
      const GemmBf16A::Tile at = a_.tile(plane, row);
      tile_.a[i] = row >= a_.count ? nullptr : at.first + k_step_ * 64;
      tile_.row_bytes[i] = at.row_bytes;
    }
    row -= GemmBf16Plan::kMr;
    splits_ = plane == 0 && row == 0;
    prefetch_.begin(tile_, plane, row, first, last, k_step_);
  }
  // The next of them.
  void use_panel(std::int64_t panel) noexcept {
    prefetch_.start(panel, tile_);
    plan_.b == GemmBf16Plan::B::terms ? use_packed(panel) : use_split(panel);
  }

 private:
  void use_packed(std::int64_t panel) noexcept {
    tile_.panel = reinterpret_cast<const std::uint16_t*>(b_) + panel * panel_values_ + k_step_ * GemmBf16B::kTerm * plan_.matrix.terms;
  }
  // The first rows split the panel for all others. Are there no others, it need not be kept: two steps take turns.
  void use_split(std::int64_t panel) noexcept {
    const bool passing = splits_ && one_pair_;
    tile_.panel = split_ + (passing ? 0 : (panel - first_split_) * panel_values_);
    tile_.whole = nullptr, tile_.ring = passing;
    if (splits_) tile_.whole = reinterpret_cast<const float*>(b_ + panel * plan_.matrix.panel_bytes()) + k_step_ * GemmBf16B::kTerm;
  }
  // Rows whose epilogue runs in each step, of those that wait.
  void share_out_epilogues() noexcept {
    tile_.epilogues_each = ceil_div(GemmBf16Plan::kMr, std::max<std::int64_t>(tile_.tap_count * tile_.steps, 1));
  }

  const GemmBf16Plan& plan_;
  const GemmBf16A& a_;
  const char* b_;
  std::uint16_t* split_;
  GemmBf16Prefetch prefetch_;
  GemmBf16Tile tile_;
  std::int64_t panel_values_, k_step_ = 0;   // of a panel as the micro-kernel reads it; the first step of the piece of k
  std::int64_t first_split_ = 0;             // the panel that lies first where they are split
  bool one_pair_, splits_ = false;           // no other rows meet the panels; these rows split them
};

}  // namespace tenfold::backends::cpu
