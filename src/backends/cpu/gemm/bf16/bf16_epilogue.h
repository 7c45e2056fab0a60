// Bf16Epilogue: what follows a product with f32 sums whose operands and result are bf16 or f32.
#pragma once

#include <optional>

#include "backends/cpu/block/epilogue.h"
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"
#include "backends/cpu/gemm/f32/simple_epilogue.h"
#include "backends/cpu/kernels/gemm/gemm_bf16.h"

namespace tenfold::backends::cpu {

// Simple epilogues run in registers, all others in the block executor, tile by tile. As F32Epilogue, but sums never pass through the
// result.
class Bf16Epilogue {
 public:
  static Verdict supports(const Problem& problem, int channel_axis, int own_bias = -1);

  Bf16Epilogue() = default;
  Bf16Epilogue(const Problem& problem, int channel_axis, int own_bias = -1);
  // Whether a kernel may compute it itself, as binding's `epilogue` says, of which everything is bf16.
  bool all_bf16() const { return simple_ && !gelu_ && out_ == DType::bf16 && bias_ == DType::bf16 && residual_ == DType::bf16; }
  // Whether the result may take the memory of operand `in`: a residual, of which each element is read where its result is stored.
  bool in_place(int in) const { return simple_ && in == form_.residual && bits(residual_) == bits(out_); }
  std::int64_t scratch_bytes() const { return simple_ ? 0 : general_.scratch_bytes(); }   // per worker

  struct Binding {
    GemmBf16EpilogueArgs epilogue;   // of row 0, column 0
    std::optional<Epilogue::Binding> general;
    char* out = nullptr;
    std::int64_t out_stride = 0;   // elements from one row of the result to the next
    int out_bytes = 2;
  };
  // `out_stride`: rows of the result are all one stride apart.
  void bind(const RunArgs& args, const TileAxes& axes, std::int64_t out_stride, Binding& binding) const noexcept;
  struct Rows { std::int64_t first, count, step; };   // step: 1, unless the epilogue is simple
  bool simple() const { return simple_; }
  // Where a simple epilogue stores these rows, of which the first one's sums begin at `sums`, the next ones' each `step` floats behind.
  void place(const Binding& binding, const Rows& rows, std::int64_t sums, GemmBf16Waiting::Row* to,
             std::int64_t step = GemmBf16Kernels::kColumns) const noexcept;
  // If it is not: these rows and columns [col, col + cols) of the result from sums whose rows are `stride` floats apart, which are lost.
  void apply(const GemmBf16Kernels& kernels, const Binding& binding, const Rows& rows, std::int64_t col, std::int64_t cols, float* sums,
             std::int64_t stride, void* scratch) const noexcept;

 private:
  bool simple_ = true, gelu_ = false;
  SimpleEpilogue form_;
  int own_bias_ = -1;
  DType out_ = DType::bf16, bias_ = DType::bf16, residual_ = DType::bf16;
  Epilogue general_;
};

}  // namespace tenfold::backends::cpu
