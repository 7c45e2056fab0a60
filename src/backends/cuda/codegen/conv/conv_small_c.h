// Convolutions of images with few channels (first layers) on tensor cores. What a window reads of one row of the image, a run, lies
// together in memory, taps and channels alike: a block copies its part of the image to shared memory as it is, and fragments are read
// from there in pairs of elements. The last elements of odd runs have no partner; they come behind all others.
#pragma once

#include "backends/cuda/codegen/gemm/gemm.h"
#include "backends/cuda/kernels/conv/conv_small_c_args.h"

namespace tenfold::backends::cuda {

struct ConvSmallCTile {
  int y = 16, z = 1;    // of a tile of results, which is 16 wide
  int blocks = 2;       // of 16 results that a warp computes
  int warps() const { return y * z / blocks; }
};

struct SkinnyProblem {
  GemmProblem gemm;
  bool wide = false;    // the image is of f32, plane by plane, and rounded as it is read
  bool pooled = false;  // of each two by two sums of a picture only the largest goes on; blocks of a tile are even then
  int run() const { return static_cast<int>(gemm.kernel[2] * gemm.channels); }
  int runs() const { return static_cast<int>(gemm.kernel[0] * gemm.kernel[1]); }
  int depth() const { return ((run() + 1) / 2 * 2 * runs() + 15) / 16 * 16; }  // of the product
  int pitch() const { return depth() + 8; }                                    // of a row of weights
  int place(int run_index, int element) const;                                 // in such a row
  int filters() const;                                                         // that a block computes
  int packed_filters() const { return (filters() + 15) / 16 * 16; }
  std::int64_t blocks_of_filters() const { return (gemm.n + filters() - 1) / filters(); }
  std::int64_t weight_bytes() const { return blocks_of_filters() * packed_filters() * pitch() * 2; }
  int shared_bytes(const ConvSmallCTile& tile) const;
  // Windows begin at odd elements too: then the tile lies twice in shared memory, once shifted by one.
  bool twice() const { return gemm.stride[2] * gemm.channels % 2 != 0; }
};

// `vectors`: results and operands of the epilogue lie at multiples of 16 bytes.
std::string generate_conv_small_c(const SkinnyProblem& p, const ConvSmallCTile& tile, bool vectors);

}  // namespace tenfold::backends::cuda
