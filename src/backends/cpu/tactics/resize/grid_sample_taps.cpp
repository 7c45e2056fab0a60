// grid_sample_taps: GridSample of f32: what a block of places reads is worked out once, then every channel is summed by it.
#include <algorithm>
#include <utility>

#include "backends/cpu/tactics/row_problem_common.h"
#include "ops/resize/grid_sample.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int kMaxDims = 3, kMaxTaps = 64, kBlock = 32;   // a block's taps lie on the stack

Verdict supports(const Problem& p) {
  if (Verdict v = no_epilogue(p); !v) return v;
  for (int i = 0; i < 2; ++i)
    if (p.in[static_cast<std::size_t>(i)].dtype != DType::f32)
      return Verdict::no(cat("operand ", i, " of type ", name(p.in[static_cast<std::size_t>(i)].dtype)));
  if (p.in[0].dims.size() > kMaxDims + 2) return Verdict::no(cat("more than ", kMaxDims, " dims to sample"));
  return dense_plain(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) { return std::make_shared<ops::Sampling>(*p.attributes); }

// What one place reads: offsets into a plane, and weights. What counts nothing is left out: it may be NaN.
struct Reads {
  int count = 0;
  int64_t offset[kMaxTaps];
  float weight[kMaxTaps];
};

void find(const ops::Sampling& sampling, const float* place, const int64_t* extents, int dims, Reads& reads) {
  reads.count = 1, reads.offset[0] = 0, reads.weight[0] = 1;
  for (int d = 0; d < dims; ++d) {
    const ops::Taps taps = ops::taps_at<float>(sampling, place[dims - 1 - d], extents[d]);
    Reads before;
    before.count = std::exchange(reads.count, 0);
    std::copy_n(reads.offset, before.count, before.offset), std::copy_n(reads.weight, before.count, before.weight);
    for (int k = 0; k < before.count; ++k) {
      for (int i = 0; i < taps.count; ++i) {
        if (taps.weight[i] == 0) continue;
        reads.offset[reads.count] = before.offset[k] * extents[d] + taps.at[i];
        reads.weight[reads.count++] = before.weight[k] * static_cast<float>(taps.weight[i]);
      }
    }
  }
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& sampling = *static_cast<const ops::Sampling*>(self);
  const Bound &x = args.in[0], &grid = args.in[1], &y = args.out[0];
  const int dims = x.rank - 2;
  const int64_t channels = x.dims[1], plane = product(x.dims, 2, x.rank), places = product(y.dims, 2, y.rank);
  if (grid.dims[0] != x.dims[0] || grid.dims[grid.rank - 1] != dims || y.dims[1] != channels) return Status::invalid_shape;
  if (product(y.dims, 0, y.rank) == 0) return Status::ok;
  if (plane == 0) return Status::invalid_shape;
  const int64_t blocks = (places + kBlock - 1) / kBlock;
  for_row_parts(*args.parallel, x.dims[0] * blocks, rows_per_part(kBlock * channels * 8), [&](int64_t first, int64_t last, int) {
    Reads reads[kBlock];
    for (int64_t b = first; b < last; ++b) {
      const int64_t n = b / blocks, begin = b % blocks * kBlock, count = std::min<int64_t>(kBlock, places - begin);
      for (int64_t i = 0; i < count; ++i)
        find(sampling, grid.as<const float>() + (n * places + begin + i) * dims, x.dims + 2, dims, reads[i]);
      for (int64_t c = 0; c < channels; ++c) {
        const float* from = x.as<const float>() + (n * channels + c) * plane;
        float* to = y.as<float>() + (n * channels + c) * places + begin;
        for (int64_t i = 0; i < count; ++i) {
          float sum = 0;
          for (int k = 0; k < reads[i].count; ++k) sum += reads[i].weight[k] * from[reads[i].offset[k]];
          to[i] = sum;
        }
      }
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_grid_sample_taps() {
  return {.name = "grid_sample_taps", .ops = {"GridSample"}, .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
