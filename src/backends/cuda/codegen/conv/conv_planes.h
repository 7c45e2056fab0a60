// Convolutions with few channels on Hopper's tensor cores. A block keeps its weights in shared memory and walks along one axis of the
// image; every plane of its tile is loaded once for all taps. The taps along that axis are columns of one product, so that as many
// planes of results grow at once; one is complete after each step.
#pragma once

#include "backends/cuda/codegen/gemm/gemm_wgmma.h"
#include "backends/cuda/kernels/conv/conv_planes_args.h"

namespace tenfold::backends::cuda {

// A plane's rows are y of a volume; of a picture, whose walk goes along y, they are images.
struct PlanesProblem {
  GemmProblem gemm;  // a convolution with stride 1 and dilation 1
  bool rows_are_images() const { return gemm.spatial_rank() == 2; }
  std::size_t walk() const { return rows_are_images() ? 1 : 0; }  // the axis walked along, as a dim of the extents
  int fold() const { return static_cast<int>(gemm.kernel[walk()]); }
  int row_taps() const { return rows_are_images() ? 1 : static_cast<int>(gemm.kernel[1]); }
  int taps() const { return row_taps() * static_cast<int>(gemm.kernel[2]); }  // within a plane
};

struct PlanesTile {
  int x = 16, y = 16;  // positions of a plane, in multiples of 8; each 8 x 8 of them are the rows of a wgmma
  int groups = 2;      // of warps that multiply
  int filters = 32;    // of a block
  int blocks() const { return x * y / 64 / groups; }  // of 64 positions, of a group
  int threads() const { return 128 * (groups + 1); }
  int depth(const PlanesProblem& p) const { return p.gemm.channels % 32 == 0 ? 32 : 16; }  // channels of one stage of the pipeline
  int columns(const PlanesProblem& p) const { return p.fold() * filters; }
  int weight_bytes(const PlanesProblem& p) const { return p.taps() * static_cast<int>(p.gemm.channels) * columns(p) * 2; }
  int stage_bytes(const PlanesProblem& p) const;
  int stages(const PlanesProblem& p) const;  // as many as fit, at most 8
  int shared_bytes(const PlanesProblem& p) const;
};

// Where tap and channel `k` of filter `n` lie among the weights, as an expression.
std::string planes_weight_at(const PlanesProblem& p, const PlanesTile& tile);
std::string generate_conv_planes(const PlanesProblem& p, const PlanesTile& tile);

}  // namespace tenfold::backends::cuda
