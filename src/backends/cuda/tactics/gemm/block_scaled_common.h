// What products with weights of 4 or 8 bits in blocks share, however they are computed: operands, epilogue, and one packing, so that a plan
// with several of them stores the weights once.
#pragma once

#include "backends/cuda/codegen/gemm/block_scaled.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/gemm/gemm_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends::cuda {

struct BlockScaled {
  BlockScaledProblem problem;   // but for its body and epilogue
  Epilogue epilogue;
  std::int64_t rows = 0;        // the most that are likely
  // With what follows the sums; `this` has to outlive it.
  BlockScaledProblem complete() const;
};
Verdict read_block_scaled(const Problem& p, BlockScaled& read);
BlockScaled block_scaled_of(const Problem& p);
// On tensor cores, f32 in three terms of bf16: more than tf32 keeps, and less than sums of f32 promise.
Verdict supports_block_scaled_mma(const Problem& p, BlockScaled& read);

std::int64_t block_scaled_bytes(const Problem& p, const Config& c, int input);
void block_scaled_pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed);
Tensor block_scaled_unpack(const Problem& p, const Config& c, int input, const void* packed);
double block_scaled_work(const Problem& p);

BlockScaledArguments block_scaled_arguments(const RunArgs& args, const BlockScaled& read) noexcept;

}  // namespace tenfold::backends::cuda
