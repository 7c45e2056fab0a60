// Products and convolutions on Hopper's tensor cores: tiles come to shared memory by TMA, one warp asks for them, groups of four
// warps multiply them by wgmma, and results leave through shared memory by TMA. Blocks stay and take tile after tile.
#pragma once

#include "backends/cuda/codegen/gemm.h"

namespace tenfold::backends::cuda {

struct WgmmaTile {
  int blocks = 1;          // of 64 rows, that a group of four warps multiplies
  int columns = 128;       // of a tile, a multiple of 16 up to 256
  int groups = 2;          // of warps that multiply
  bool alternate = false;  // each group has tiles of its own: one writes results while the other multiplies
  int stages = 4;
  int slots = 2;  // panels of results that a group holds in shared memory
  int rows() const { return alternate ? 64 * blocks : 64 * blocks * groups; }
  int panel() const { return columns % 64 == 0 ? 64 : columns % 32 == 0 ? 32 : 16; }
  int threads() const { return 128 * (groups + 1); }
  int shared_bytes() const;
};

// An image of TMA's description of a tensor; the driver fills it.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};
// What the kernel `gemm` is given; boxes: a and b 64 deep and a tile high, y and r a panel wide and a group high.
struct WgmmaArguments {
  TensorMap a, b, y, r;
  const void* tail[kMostTail];
  std::int64_t m;
};
inline constexpr int kWgmmaDepth = 64;

// The operand of the epilogue that comes by TMA as the results go: the first one of their shape and size; -1 if none.
int staged_operand(const GemmProblem& p);
std::string generate_wgmma(const GemmProblem& p, const WgmmaTile& tile);

}  // namespace tenfold::backends::cuda
