// The epilogue of a bf16 product: two modes with the same functions, which the loops call in this order:
//   begin(rows and panels), multiply(each panel), end(), ... and finish() behind all.
#pragma once

#include "backends/cpu/gemm/bf16/gemm_bf16_loops.h"

namespace tenfold::backends::cpu {

// Epilogue::beside_next: a micro-tile waits while the next one is multiplied, whose kernel runs the epilogue of the one that waits.
class GemmBf16EpilogueBesideNext {
 public:
  GemmBf16EpilogueBesideNext(const GemmBf16Plan& plan, const GemmBf16Call& call, const GemmBf16Scratch&) noexcept
      : n_(plan.matrix.n), call_(call) {
    before_.epilogue = &call.bound.epilogue;
  }
  // Sums go to `sums` or, where those before still wait there, behind them.
  void begin(std::int64_t plane, std::int64_t row, std::int64_t, std::int64_t, float* sums) noexcept {
    own_ = {.epilogue = &call_.bound.epilogue, .rows = rows_[turn_]};
    const std::int64_t last = std::min(row + GemmBf16Plan::kMr, call_.rows.a.count);
    call_.rows.c.for_each_line(plane, row, last, [&](const Bf16Epilogue::Rows& c, std::int64_t at) {
      call_.epilogue.place(call_.bound, c, at * GemmBf16Kernels::kColumns, rows_[turn_] + own_.count);
      own_.count += c.count;
    });
    turn_ ^= 1;   // those before still wait with the other table
    sums_ = sums;
  }
  void multiply(const GemmBf16Tile& tile, std::int64_t panel) noexcept {
    own_.column = panel * GemmBf16Plan::kNr;
    own_.columns = std::min(GemmBf16Plan::kNr, n_ - own_.column);
    own_.sums = before_.sums == sums_ ? sums_ + GemmBf16Plan::kMr * GemmBf16Plan::kNr : sums_;
    kernels_.multiply_with_epilogue(tile, own_, before_);
    before_ = own_;
  }
  void end() noexcept {}
  void finish() noexcept { kernels_.epilogue(before_); }

 private:
  const GemmBf16Kernels& kernels_ = gemm_bf16_kernels();
  std::int64_t n_;
  const GemmBf16Call& call_;
  GemmBf16Waiting::Row rows_[2][GemmBf16Plan::kMr];
  GemmBf16Waiting own_, before_;
  float* sums_ = nullptr;
  int turn_ = 0;
};

// Epilogue::after_block: the block executor runs it over 32 rows of all panels that they met.
class GemmBf16EpilogueAfterBlock {
 public:
  GemmBf16EpilogueAfterBlock(const GemmBf16Plan& plan, const GemmBf16Call& call, const GemmBf16Scratch& scratch) noexcept
      : n_(plan.matrix.n), call_(call), scratch_(scratch.epilogue) {}
  void begin(std::int64_t plane, std::int64_t row, std::int64_t first, std::int64_t last, float* sums) noexcept {
    plane_ = plane, row_ = row, first_ = first, sums_ = sums;
    stride_ = (last - first) * GemmBf16Plan::kNr;
  }
  void multiply(const GemmBf16Tile& tile, std::int64_t panel) noexcept {
    kernels_.multiply(tile, sums_ + (panel - first_) * GemmBf16Plan::kNr, stride_);
  }
  void end() noexcept {
    const std::int64_t column = first_ * GemmBf16Plan::kNr, columns = std::min(stride_, n_ - column);
    const std::int64_t last = std::min(row_ + GemmBf16Plan::kMr, call_.rows.a.count);
    call_.rows.c.for_each_line(plane_, row_, last, [&](const Bf16Epilogue::Rows& c, std::int64_t at) {
      call_.epilogue.apply(kernels_, call_.bound, c, column, columns, sums_ + at * stride_, stride_, scratch_);
    });
  }
  void finish() noexcept {}

 private:
  const GemmBf16Kernels& kernels_ = gemm_bf16_kernels();
  std::int64_t n_;
  const GemmBf16Call& call_;
  void* scratch_;
  std::int64_t plane_ = 0, row_ = 0, first_ = 0, stride_ = 0;
  float* sums_ = nullptr;
};

}  // namespace tenfold::backends::cpu
