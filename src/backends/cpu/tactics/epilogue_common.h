// What follows an f32 product: epilogues simple enough for registers are recognised here, all others go to the block executor.
#pragma once

#include <limits>
#include <optional>

#include "backends/cpu/block/epilogue.h"
#include "backends/cpu/kernels/gemm_f32.h"
#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// (sum + a value per channel + a whole tensor), then clamped. Operands are indices into Problem::in, -1: none.
struct SimpleEpilogue {
  int bias = -1, residual = -1;
  bool clamp = false;
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  int low_operand = -1, high_operand = -1;  // bounds that are scalar operands, applied in this order after low and high
};
// The body in that form, if it is, all of one type; also if there is no body. `channel_axis` counts in the output's dims.
std::optional<SimpleEpilogue> simple_epilogue(const Problem& problem, int channel_axis, DType type = DType::f32);

// Takes over finished sums. The operator's own bias (operand `own_bias` of the problem, if given) is always added in registers.
class F32End {
 public:
  static Verdict supports(const Problem& problem, int channel_axis, int own_bias = -1);

  F32End() = default;
  F32End(const Problem& problem, int channel_axis, int own_bias = -1);
  // False: sums are stored to output 0, and apply() has to follow while they are hot.
  bool in_registers() const { return simple_; }
  std::int64_t scratch_bytes() const { return simple_ ? 0 : general_.scratch_bytes(); }  // per worker

  struct Binding {
    GemmF32Finish finish;  // of row 0, column 0
    bool any = false;      // finish has something to do
    std::optional<Epilogue::Binding> general;
    Binding() noexcept {}  // not the compiler's, which clears the kilobytes of `general` as well: a tenth of a microsecond in each step
    // The finish of a tile.
    GemmF32Finish at(std::int64_t row, std::int64_t col) const {
      GemmF32Finish f = finish;
      if (f.bias) f.bias += col;
      if (f.residual) f.residual += row * f.residual_stride + col;
      return f;
    }
  };
  void bind(const RunArgs& args, const TileAxes& axes, Binding& binding) const noexcept;
  void apply(const Binding& binding, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols, const float* sums,
             std::int64_t row_stride, void* scratch) const noexcept {
    general_.apply(*binding.general, row, rows, col, cols, sums, row_stride, scratch);
  }

 private:
  bool simple_ = true;
  SimpleEpilogue form_;
  int own_bias_ = -1;
  Epilogue general_;
};

// A dim for choosing configs by: its value, or a likely one inside its bounds.
std::int64_t likely(const Problem& problem, ir::Dim dim, std::int64_t guess = 256);

}  // namespace tenfold::backends::cpu
