// Epilogue: what a product or convolution does with a finished tile of its accumulators: runs the problem's body over it, with
// the extra operands broadcast to the output as numpy does, and stores the results.
//
//   open:  kernel->epilogue = Epilogue(problem);                            // also without a body: then it converts and stores
//   run:   Epilogue::Binding bound; kernel->epilogue.bind(args, TileAxes::last(rank), bound);   // on the stack, no allocation
//   tile:  kernel->epilogue.apply(bound, row0, rows, col0, cols, acc, acc_row_stride, scratch_of_this_worker);
#pragma once

#include "backends/cpu/block/executor.h"

namespace tenfold::backends::cpu {

inline constexpr int kMaxRank = 8;

// Which axes of the output make up the rows and which the columns of tiles, each outermost first.
struct TileAxes {
  std::int8_t rows[kMaxRank] = {}, cols[kMaxRank] = {};
  int row_count = 0, col_count = 0;
  static TileAxes last(int rank);           // columns: the last axis (products)
  static TileAxes channels_last(int rank);  // columns: axis 1; rows: batch and spatial axes (convolution, channels-last)
  static TileAxes spatial(int rank);        // rows: batch and axis 1; columns: spatial axes (convolution, plain)
};

// An operand's walk over rows and columns: neighboring axes that go on in the same stride are merged.
struct Walk {
  struct Axis {
    std::int64_t extent, stride;
  };
  Axis rows[kMaxRank], cols[kMaxRank];  // innermost first
  int row_count = 0, col_count = 0;
  char* data = nullptr;
  int element_bytes = 0;
  // The walk of an operand of dims and strides `of`, broadcast to `dims`.
  static Walk make(const Bound& of, DType dtype, const std::int64_t* dims, int rank, const TileAxes& axes);
  bool simple() const { return row_count <= 1 && col_count <= 1; }
};

class Epilogue {
 public:
  // Refuses bodies the executor cannot run, outputs of rank above kMaxRank, reductions.
  static Verdict supports(const Problem& problem);

  Epilogue() = default;
  // The problem's body, or, if it has none, a copy of the accumulator of type `accumulator` to the output's type. f32 accumulators
  // serve bodies of f16 and bf16, too.
  Epilogue(const Problem& problem, DType accumulator);
  std::int64_t scratch_bytes() const { return executor_->scratch_bytes(); }  // per worker, 64-byte aligned

  struct Binding {
    Walk walk[BlockExecutor::kMaxInputs + BlockExecutor::kMaxOutputs];  // extra operands, then outputs
    bool simple = true;                                                 // every walk is
    std::int64_t rows = 1, cols = 1;
  };
  // Resolves operands in[anchor_inputs ..] and all outputs of this run.
  void bind(const RunArgs& args, const TileAxes& axes, Binding& binding) const noexcept;

  // Tile [row0, row0+rows) x [col0, col0+cols) of the output from `accumulators` (its element (row0, col0); columns contiguous).
  void apply(const Binding& binding, std::int64_t row0, std::int64_t rows, std::int64_t col0, std::int64_t cols, const void* accumulators,
             std::int64_t accumulator_row_stride, void* scratch) const noexcept;

 private:
  std::shared_ptr<const BlockExecutor> executor_;
  DType types_[BlockExecutor::kMaxInputs + BlockExecutor::kMaxOutputs] = {};
  int extra_ = 0, outputs_ = 0, anchor_inputs_ = 0;
};

}  // namespace tenfold::backends::cpu
