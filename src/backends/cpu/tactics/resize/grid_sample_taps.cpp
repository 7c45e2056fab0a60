// grid_sample_taps: GridSample of f32: what a block of places reads is worked out once, then every channel is summed by it.
#include <algorithm>
#include <limits>

#include "backends/cpu/kernels/resize/sample.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "ops/resize/grid_sample.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int kMaxDims = kSampleDims, kMaxTaps = 64, kBlock = kSampleBlock;   // a block's taps lie on the stack
constexpr int64_t kMaxPlane = std::numeric_limits<std::int32_t>::max();   // offsets have 32 bits

struct Kernel {
  const SampleKernels* kernels;
  ops::Sampling sampling;
};

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  for (int i = 0; i < 2; ++i)
    if (p.in[static_cast<std::size_t>(i)].dtype != DType::f32)
      return Verdict::no(cat("operand ", i, " of type ", name(p.in[static_cast<std::size_t>(i)].dtype)));
  const auto& dims = p.in[0].dims;
  if (dims.size() > kMaxDims + 2) return Verdict::no(cat("more than ", kMaxDims, " dims to sample"));
  double plane = 1;
  for (std::size_t d = 2; d < dims.size(); ++d) plane *= static_cast<double>(p.bounds(dims[d]).lower);   // else the run tells
  if (plane > kMaxPlane) return Verdict::no("a plane of more than 2^31 elements");
  return dense_plain(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{&pick(p, tenfold_sample_avx2, tenfold_sample_avx512), ops::Sampling(*p.attributes)});
}

// Do vectors of places say what is read?
bool is_simple(const ops::Sampling& s, const Bound& x) {
  const bool linear = s.mode == ops::Sampling::Mode::linear && s.padding != ops::Sampling::Padding::reflection;
  return linear && x.rank > 2 && std::all_of(x.dims + 2, x.dims + x.rank, [](int64_t extent) { return extent <= kSampleExtent; });
}

// What the places of a block read: offsets into a plane, and weights, tap by tap. What counts nothing has neither: it may be NaN.
struct Reads {
  int taps = 0;
  std::int32_t offset[kMaxTaps * kBlock];
  float weight[kMaxTaps * kBlock];

  // Place i.
  void find(const ops::Sampling& sampling, const float* place, const int64_t* extents, int dims, int64_t i) {
    int64_t at[kMaxTaps];
    float w[kMaxTaps];
    int count = 1;
    at[0] = 0, w[0] = 1;
    for (int d = 0; d < dims; ++d) {
      const ops::Taps along = ops::taps_at<float>(sampling, place[dims - 1 - d], extents[d]);
      const int each = along.count == 0 ? 1 : along.count;   // none: it lies far outside
      for (int k = count; k-- > 0;) {
        const int64_t row = at[k] * extents[d];
        const float before = along.count == 0 ? 0 : w[k];
        for (int j = each; j-- > 0;)
          at[k * each + j] = row + along.at[j], w[k * each + j] = before * static_cast<float>(along.weight[j]);
      }
      count *= each;
    }
    for (int t = 0; t < taps; ++t) {
      const bool counts = t < count && w[t] != 0;
      offset[t * kBlock + i] = counts ? static_cast<std::int32_t>(at[t]) : 0, weight[t * kBlock + i] = counts ? w[t] : 0;
    }
  }
};

int taps_of(const ops::Sampling& sampling, int dims) {
  const int each = sampling.mode == ops::Sampling::Mode::nearest ? 1 : sampling.mode == ops::Sampling::Mode::linear ? 2 : 4;
  int taps = 1;
  for (int d = 0; d < dims; ++d) taps *= each;
  return taps;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &grid = args.in[1], &y = args.out[0];
  const int dims = x.rank - 2;
  const int64_t channels = x.dims[1], plane = product(x.dims, 2, x.rank), places = product(y.dims, 2, y.rank);
  if (grid.dims[0] != x.dims[0] || grid.dims[grid.rank - 1] != dims || y.dims[1] != channels) return Status::invalid_shape;
  if (product(y.dims, 0, y.rank) == 0) return Status::ok;
  if (plane == 0 || plane > kMaxPlane) return Status::invalid_shape;
  SampleGrid grid_of{.dims = dims,
                     .corners = k.sampling.corners,
                     .border = k.sampling.padding == ops::Sampling::Padding::border};
  std::copy(x.dims + 2, x.dims + x.rank, grid_of.extents);
  const bool simple = is_simple(k.sampling, x);
  const int64_t blocks = (places + kBlock - 1) / kBlock;
  for_row_parts(*args.parallel, x.dims[0] * blocks, rows_per_part(kBlock * channels * 8), [&](int64_t first, int64_t last, int) {
    Reads reads;
    reads.taps = taps_of(k.sampling, dims);
    for (int64_t b = first; b < last; ++b) {
      const int64_t n = b / blocks, begin = b % blocks * kBlock, count = std::min<int64_t>(kBlock, places - begin);
      const float* const at = grid.as<const float>() + (n * places + begin) * dims;
      if (simple) k.kernels->linear(grid_of, at, count, reads.offset, reads.weight);
      for (int64_t i = simple ? count : 0; i < count; ++i) reads.find(k.sampling, at + i * dims, x.dims + 2, dims, i);
      for (int t = 0; t < reads.taps; ++t)   // a vector may be wider than what is left
        for (int64_t i = count; i < kBlock; ++i) reads.offset[t * kBlock + i] = 0, reads.weight[t * kBlock + i] = 0;
      for (int64_t c = 0; c < channels; ++c)
        k.kernels->sample(x.as<const float>() + (n * channels + c) * plane, reads.offset, reads.weight, reads.taps, count,
                          y.as<float>() + (n * channels + c) * places + begin);
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_grid_sample_taps() {
  return {.name = "grid_sample_taps",
          .ops = {"GridSample"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"GridSample f32[2,3,9,11] f32[2,7,11,2](-1.3,1.3)",
                    "GridSample f32[1,2,9,11] f32[1,5,9,2](-3,3) padding_mode=\"border\" align_corners=1",
                    "GridSample f32[1,2,5,6,7] f32[1,3,4,5,3](-1.2,1.2) padding_mode=\"border\"",
                    "GridSample f32[2,2,17] f32[2,40,1](-1.2,1.2) align_corners=1"}};
}

}  // namespace tenfold::backends
