// What follows an f32 product.
#pragma once

#include <optional>

#include "backends/cpu/block/epilogue.h"
#include "backends/cpu/gemm/f32/simple_epilogue.h"
#include "backends/cpu/kernels/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

// Takes over complete sums. The operator's own bias (operand `own_bias` of the problem, if given) is always added in registers.
class F32Epilogue {
 public:
  static Verdict supports(const Problem& problem, int channel_axis, int own_bias = -1);

  F32Epilogue() = default;
  F32Epilogue(const Problem& problem, int channel_axis, int own_bias = -1);
  // False: sums are stored to output 0, and apply() has to follow while they are hot.
  bool in_registers() const { return simple_; }
  std::int64_t scratch_bytes() const { return simple_ ? 0 : general_.scratch_bytes(); }  // per worker

  struct Binding {
    GemmF32EpilogueArgs epilogue;  // of row 0, column 0
    bool any = false;              // `epilogue` has something to do
    std::optional<Epilogue::Binding> general;
    Binding() noexcept {}  // not the compiler's, which clears the kilobytes of `general` as well: a tenth of a microsecond in each step
    // What the kernel of a tile is handed.
    GemmF32EpilogueArgs at(std::int64_t row, std::int64_t col) const {
      GemmF32EpilogueArgs f = epilogue;
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

}  // namespace tenfold::backends::cpu
