// Matrix products and convolutions on tensor cores (mma.sync), with any epilogue: y[m, n] = body(sum over k of a[m, k] * b[n, k]).
// f32 is rounded to tf32 on its way: to the nearest, the larger of two as near, by whoever brings it to a register (cvt.rna), or by TMA.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "backends/cuda/kernels/gemm/gemm_args.h"
#include "backends/tactic.h"

namespace tenfold::backends::cuda {

// How an operand of the epilogue is read: as the result lies, by column, by row, or one value for all.
enum class EpilogueKind { whole, column, row, single };
struct EpilogueOperand {
  EpilogueKind kind = EpilogueKind::column;
  DType dtype = DType::f16;
  std::int64_t offset = 0;  // bytes from where the operand begins
};

struct GemmTile {
  int rows = 64, columns = 64;  // of a block
  int warps_down = 2, warps_across = 2;
  int stages = 4;
  int split = 1;  // blocks of one cluster that share the sum over k; above 1 needs sm_90
  int threads() const { return 32 * warps_down * warps_across; }
  int shared_bytes() const;
};

struct GemmProblem {
  DType in = DType::f16, weight = DType::f16, out = DType::f16;  // a, b and y; a and b differ where one of two integers has no sign
  std::int64_t n = 0, k = 0;
  const ir::Body* body = nullptr;         // null: the sum itself
  std::vector<EpilogueOperand> epilogue;  // feed body inputs 1, 2, ...
  bool vectors = true;                    // rows of a, b and y lie at multiples of 16 bytes
  int zero_point = -1;                    // of the epilogue: the element that stands for nought, which pads of a convolution count as
  bool moments = false;                   // gemm_wgmma.h: the results' rows are summarized, too
  std::string weight_at;                  // without vectors: where element k of row n of b lies, if rows do not follow each other
  // A convolution over channels-last images: rows are output positions, k runs over taps, then channels.
  bool is_conv = false;
  std::int64_t channels = 0;
  std::array<std::int64_t, 3> in_extent{1, 1, 1}, out_extent{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, begin{0, 0, 0};
  // A transposed convolution whose windows tile its result: rows are positions of the image, columns the taps of a window, each with a
  // column for each channel of the result.
  bool spreads = false;
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  // Channels in groups: n, k and `channels` are of one; b has a matrix for each.
  std::int64_t groups = 1;
  // A transposed convolution whose windows overlap, leave gaps or are cut off: results whose place modulo `result_stride` is the same
  // are a convolution of the image with some of the taps. Rows are positions of such a phase (`out_extent`, of the largest), b has a
  // matrix of k columns for each phase, then group, of which a phase with fewer taps reads the first ones.
  struct Phase {
    std::int64_t taps = 1, begin = 0;  // along one axis
  };
  std::array<std::vector<Phase>, 3> phases;  // by place modulo stride; empty: it is no such convolution
  std::array<std::int64_t, 3> result_extent{1, 1, 1};
  bool has_phases() const { return !phases[0].empty(); }
  std::int64_t phase_count() const;
  std::int64_t width() const { return spreads ? n / taps() : groups * n; }  // channels of the result
  std::int64_t pitch = 0;                                          // from one row of the result to the next; 0: its width
  DType sum() const { return is_float(in) ? DType::f32 : DType::i32; }
  int per_piece() const { return 128 / bits(in); }  // elements of 16 bytes
  int depth() const { return 8 * per_piece(); }     // of a tile along k: rows of 128 bytes
  // The same for wgmma: rows of 64 bytes where nothing but nought would fill the rest of each.
  int row_depth() const { return (is_conv ? channels : k) * 2 <= depth() ? depth() / 2 : depth(); }
  int row_bytes() const { return row_depth() * bits(in) / 8; }
  std::int64_t row_pitch() const { return pitch > 0 ? pitch : width(); }
  int spatial_rank() const;  // 1 to 3: dims of an image that a convolution moves along
};
inline constexpr int kMaxEpilogueOperands = 8;

// The grid of `gemm` is blocks(), 1, split; neighbors share rows of a, for columns, groups and phases turn first.
std::int64_t blocks(const GemmProblem& p, const GemmTile& tile, std::int64_t m);
std::string generate_gemm(const GemmProblem& p, const GemmTile& tile);

}  // namespace tenfold::backends::cuda
