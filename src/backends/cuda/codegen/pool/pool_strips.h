// Pooling windows, several results a thread: neighbors along a row (or channels), in a few rows below each other. All that a thread reads
// is asked for before it computes, in pieces of up to 16 bytes, and rows that two results share are read once.
#pragma once

#include "backends/cuda/codegen/pool/pool.h"

namespace tenfold::backends::cuda {

struct PoolStripsProblem {
  PoolProblem pool;             // width: results side by side
  bool channels_last = false;   // then they are channels, which lie side by side and come in whole vectors
  int rows = 1;                 // of a thread
  int piece = 1;                // plain order: elements of the operand, and results, that lie at multiples of as many
  int stored = 1;
};
inline constexpr int kPoolStripsThreads = 256;

// Instructions by which a thread reads.
int pool_strips_reads(const PoolStripsProblem& p);
// The text of pool/pool_strips.cu. Operands: f32, f16 or bf16; in plain order width * stride is a multiple of `piece`.
std::string generate_pool_strips(const PoolStripsProblem& p);

}  // namespace tenfold::backends::cuda
