// What products with weights of 4 or 8 bits in blocks share, however they compute many rows: operands, packing, and few rows.
#pragma once

#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/matrix_rows.h"
#include "backends/cpu/gemm/weights/weights_block_scaled.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

bool block_scaled_zeros(const Problem& problem);   // whether there are zero points
Verdict supports_block_scaled(const Problem& problem);
Verdict supports_block_scaled_bytes(const Problem& problem);   // with rows in two bytes, on AVX512_VNNI
// {instruction set, panels of a part with few rows, whether few rows are taken as bytes and scales in 24 bits}: configurations begin so.
std::vector<Config> block_scaled_configs(const Problem& problem, bool bytes);
Verdict block_scaled_valid(const Problem& problem, const Config& config, bool bytes);

std::int64_t block_scaled_bytes(const Problem& problem, const Config& config, int input);
void block_scaled_pack(const Problem& problem, const Config& config, int input, std::span<const Tensor* const> constants, void* packed);
Tensor block_scaled_unpack(const Problem& problem, const Config& config, int input, const void* packed);

// Few rows times such weights, which become floats in registers; or rows become bytes.
struct BlockScaledFew {
  static constexpr std::int64_t kMaxRows = 12;   // more are bound by arithmetic, and worth columns of floats that all of them share
  BlockScaledFew(const Problem& problem, const Config& config);
  void run(const RunArgs& args, std::int64_t rows) const noexcept;
  std::int64_t scratch_bytes() const { return row_bytes() * BlockScaledBytesKernels::kMaxRows + epilogue.scratch_bytes(); }   // of a worker
  std::int64_t row_bytes() const {   // of one as bytes
    return bytes ? round_up(k, 16) * 2 + round_up(weights.blocks() * 12, 64) + 64 : 0;
  }
  // As kernels read a panel of a run's operands.
  BlockScaledPanel panel(const RunArgs& args, std::int64_t i) const noexcept {
    return weights.panel(i, args.in[1].data, args.in[2].data, zeros ? args.in[3].data : nullptr);
  }

  const BlockScaledKernels* kernels;
  WeightsBlockScaled weights;
  bool zeros, bytes;
  BlockScaledValues values;
  std::int64_t k, n, block, panels_of_part;
  F32Epilogue epilogue;
};
// Rows of a run.
inline std::int64_t rows_of(const RunArgs& args) {
  std::int64_t m = 1;
  for (int i = 0; i + 1 < args.in[0].rank; ++i) m *= args.in[0].dims[i];
  return m;
}

// Many rows: a few columns of the weights become floats in a worker's cache.
Tactic block_scaled_tactic(const char* name, bool bytes);

}  // namespace tenfold::backends::cpu
