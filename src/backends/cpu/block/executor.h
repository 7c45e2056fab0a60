// BlockExecutor: an ir::Body compiled once for this CPU and run over tiles that are still hot. Epilogues and regions share it.
//
// A tile is [rows x cols] elements of the body's iteration space. Execution goes block by block (at most kBlock elements), one
// precompiled SIMD loop per instruction; the first and last instruction read and write the caller's memory directly.
// f16 and bf16 are computed as f32, and rounded where the body casts to them or gives them out.
// An elementwise result depends only on its own operands, never on how the space was cut into tiles. If the body has
// reductions, a row of the tile is one reduction row, complete, and its order of summation depends on `cols` alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backends/tactic.h"
#include "ir/body.h"

namespace tenfold::backends::cpu {

// Where the elements of one body input or output lie, for a tile. Strides count elements; 0 broadcasts (inputs only).
// col_stride 0 and 1 are fast; any other is gathered into scratch.
struct TileOperand {
  const void* data = nullptr;
  std::int64_t row_stride = 0, col_stride = 1;
};
struct TileResult {
  void* data = nullptr;
  std::int64_t row_stride = 0, col_stride = 1;
};

class BlockExecutor {
 public:
  static constexpr int kMaxInputs = 32, kMaxOutputs = 8;
  // Whether the body can be run at all: its types and the number of its operands.
  static Verdict supports(const ir::Body& body);

  // `features` chooses the instruction set (DeviceInfo::features). Throws Error(internal) if supports() says no.
  // `first_wide`: input 0 comes as f32 where the body takes an f16 or bf16: a sum that was not rounded yet.
  BlockExecutor(const ir::Body& body, std::uint32_t features, bool first_wide = false);
  ~BlockExecutor();
  BlockExecutor(BlockExecutor&&) noexcept;
  BlockExecutor& operator=(BlockExecutor&&) noexcept;

  int inputs() const noexcept;
  int outputs() const noexcept;
  // Bytes of 64-byte aligned scratch that every concurrent run() needs for itself.
  std::int64_t scratch_bytes() const noexcept;

  // in[i] feeds body input i, out[j] takes body output j. An output may be the same memory as an input if both have the same
  // strides and element size (in place); any other overlap is undefined. Outputs of reduced values have col_stride 0.
  void run(std::int64_t rows, std::int64_t cols, std::span<const TileOperand> in, std::span<const TileResult> out,
           void* scratch) const noexcept;

  struct Program;  // see program.h

 private:
  std::unique_ptr<const Program> program_;
};

}  // namespace tenfold::backends::cpu
