// reduce_blocks: reductions and global poolings of f32 and bf16 over any axes in any layout: rows where a reduced axis
// is innermost, columns in vectors where a kept one is.
#include <cmath>

#include "backends/cpu/block/space.h"
#include "backends/cpu/kernels/pool/pool.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "backends/problems/reduce_axes.h"
#include "base/checked.h"
#include "base/types/half.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

using std::int64_t;

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  const OperandDesc& in = p.in[0];
  if (in.dtype != DType::f32 && in.dtype != DType::bf16)
    return Verdict::no(cat("elements of type ", name(in.dtype), ", f32 or bf16 is needed"));
  if (in.dims.size() > kMaxRank) return Verdict::no(cat("rank ", in.dims.size(), ", ", kMaxRank, " is possible"));
  if (!p.out[0].dense) return Verdict::no("the output is strided");
  if (p.in.size() > 1 && !p.in[1].missing) return Verdict::no("the axes are data");
  if (reduced_axes(p) == 0) return Verdict::no("nothing is reduced");
  return Verdict::ok();
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all{{std::vector<Layout>(p.in.size()), {kPlain}}};
  if (p.in[0].dims.size() < 3 || p.in.size() > 1) return all;
  const bool kept = p.out[0].dims.size() == p.in[0].dims.size();
  all.push_back({{kChannelsLast}, {kept ? kChannelsLast : kPlain}});
  if (kept) all.push_back({{kChannelsLast}, {kPlain}});
  return all;
}

struct Kernel {
  const ReduceKernels* kernels;
  Reduce how;
  std::uint32_t axes;
  bool mean, root, narrow;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  using Kind = ir::ReductionKind;
  const Kind kind = p.op->traits.reduction;
  const Reduce how = kind == Kind::max                             ? Reduce::max
                     : kind == Kind::min                           ? Reduce::min
                     : kind == Kind::norm || kind == Kind::squares ? Reduce::squares
                     : kind == Kind::absolutes                     ? Reduce::absolutes
                                                                   : Reduce::sum;
  return std::make_shared<Kernel>(Kernel{&pick(p, tenfold_reduce_avx2, tenfold_reduce_avx512), how, reduced_axes(p), kind == Kind::mean,
                                         kind == Kind::norm, p.in[0].dtype == DType::bf16});
}

// Kept axes in front, in the order of the input's strides; then the reduced ones.
struct Split {
  Space space;
  int kept = 0;
  bool column_inner = false;  // a kept axis is innermost in memory
};
constexpr int kIn = 0, kOut = 1;
Split split(const Kernel& kernel, const Bound& in, const Bound& out) {
  Space all(in.dims, in.rank);
  all.operands = 2;
  for (int a = 0, o = 0; a < in.rank; ++a) {
    const bool reduced = kernel.axes >> a & 1;
    all.stride[kIn][a] = in.strides[a];
    all.stride[kOut][a] = reduced ? 0 : out.strides[o];
    o += !reduced || out.rank == in.rank;
  }
  all.merge(0, all.rank);
  all.order(kIn, 0, all.rank);
  all.merge(0, all.rank);
  Split s{Space(all.extent, 0), 0, false};
  s.space.operands = 2;
  for (const bool reduced : {false, true}) {
    for (int a = 0; a < all.rank; ++a) {
      if ((all.stride[kOut][a] == 0) != reduced) continue;
      const int at = s.space.rank++;
      s.space.extent[at] = all.extent[a];
      s.space.stride[kIn][at] = all.stride[kIn][a];
      s.space.stride[kOut][at] = all.stride[kOut][a];
      s.kept += !reduced;
    }
  }
  s.column_inner = all.rank > 0 && all.stride[kOut][all.rank - 1] != 0 && all.stride[kIn][all.rank - 1] == 1;
  return s;
}

template <class T>
void finish(const Kernel& kernel, float value, float inverse_count, T& to) {
  value = kernel.mean ? value * inverse_count : kernel.root ? std::sqrt(value) : value;
  if constexpr (std::is_same_v<T, float>)
    to = value;
  else
    to = float_to_bf16(value);
}
const ReduceKernelsOf<float>& kernels_of(const Kernel& kernel, float) { return kernel.kernels->f32; }
const ReduceKernelsOf<std::uint16_t>& kernels_of(const Kernel& kernel, std::uint16_t) { return kernel.kernels->bf16; }

// One result for each row of kept axes: the rows of reduced axes joined one after the other.
template <class T>
void reduce_rows(const Kernel& kernel, const RunArgs& args, const Split& s, float inverse_count) {
  const Space& space = s.space;
  const int last = space.rank - 1;
  const bool contiguous = last >= s.kept && space.stride[kIn][last] == 1;
  const int64_t length = contiguous ? space.extent[last] : 1;
  Space reduced(space.extent + s.kept, 0);
  reduced.operands = 1;
  for (int a = s.kept; a < space.rank - contiguous; ++a) {
    reduced.extent[reduced.rank] = space.extent[a];
    reduced.stride[kIn][reduced.rank++] = space.stride[kIn][a];
  }
  const int64_t rows = space.count(0, s.kept), pieces = reduced.count(0, reduced.rank);
  const auto join_row = kernels_of(kernel, T()).row[static_cast<int>(kernel.how)];
  const auto join = [&](float a, float b) {
    if (kernel.how == Reduce::max) return a != a || a > b ? a : b;
    if (kernel.how == Reduce::min) return a != a || a < b ? a : b;
    return a + b;
  };
  for_row_parts(*args.parallel, rows, rows_per_part(pieces * length), [&](int64_t first, int64_t final, int) {
    space.for_runs(s.kept, first, final, [&](const int64_t* offsets, int64_t n) {
      for (int64_t r = 0; r < n; ++r) {
        const T* from = args.in[0].as<const T>() + offsets[kIn] + r * space.row_stride(kIn, s.kept);
        float value = 0;
        bool started = false;
        reduced.for_runs(reduced.rank, 0, pieces, [&](const int64_t* at, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            const float piece = join_row(from + at[0] + i * reduced.row_stride(kIn, reduced.rank), length);
            value = started ? join(value, piece) : piece;
            started = true;
          }
        });
        if (!started) value = join_row(from, 0);
        finish(kernel, value, inverse_count, args.out[0].as<T>()[offsets[kOut] + r * space.row_stride(kOut, s.kept)]);
      }
    });
  });
}

// A kept axis is innermost: strips of its columns are joined over all reduced rows.
template <class T>
void reduce_columns(const Kernel& kernel, const RunArgs& args, const Split& s, float inverse_count) {
  constexpr int64_t kStrip = 256;
  const Space& space = s.space;
  const int outer = s.kept - 1;  // kept axes outside the columns
  const int64_t cols = space.extent[outer], strips = ceil_div(cols, kStrip), rows = space.count(0, outer);
  const int inner = space.rank - 1;
  Space reduced(space.extent, 0);
  reduced.operands = 1;
  for (int a = s.kept; a < inner; ++a) {
    reduced.extent[reduced.rank] = space.extent[a];
    reduced.stride[kIn][reduced.rank++] = space.stride[kIn][a];
  }
  const int64_t depth = inner >= s.kept ? space.extent[inner] : 1, row_stride = inner >= s.kept ? space.stride[kIn][inner] : 0;
  const int64_t pieces = reduced.count(0, reduced.rank), out_stride = space.stride[kOut][outer];
  const auto join_columns = kernels_of(kernel, T()).columns[static_cast<int>(kernel.how)];
  for_row_parts(*args.parallel, rows * strips, rows_per_part(depth * pieces * std::min(cols, kStrip)),
                [&](int64_t first, int64_t final, int) {
                  alignas(64) float sums[kStrip];
                  for (int64_t part = first; part < final; ++part) {
                    const int64_t column = part % strips * kStrip, count = std::min(kStrip, cols - column);
                    space.for_runs(outer, part / strips, part / strips + 1, [&](const int64_t* offsets, int64_t) {
                      const T* from = args.in[0].as<const T>() + offsets[kIn] + column;
                      bool started = false;
                      reduced.for_runs(reduced.rank, 0, pieces, [&](const int64_t* at, int64_t n) {
                        for (int64_t i = 0; i < n; ++i) {
                          join_columns(sums, from + at[0] + i * reduced.row_stride(kIn, reduced.rank), row_stride, depth, count,
                                       !started);
                          started = true;
                        }
                      });
                      T* to = args.out[0].as<T>() + offsets[kOut] + column * out_stride;
                      for (int64_t c = 0; c < count; ++c) finish(kernel, sums[c], inverse_count, to[c * out_stride]);
                    });
                  }
                });
}

template <class T>
void reduce(const Kernel& kernel, const RunArgs& args, int64_t count) {
  const Split s = split(kernel, args.in[0], args.out[0]);
  const float inverse_count = 1.f / static_cast<float>(count);
  if (count > 0 && s.column_inner)
    reduce_columns<T>(kernel, args, s, inverse_count);
  else if (count == 1 || s.space.rank > s.kept || count == 0)
    reduce_rows<T>(kernel, args, s, inverse_count);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& in = args.in[0];
  int64_t count = 1;
  bool empty_result = false;
  for (int a = 0; a < in.rank; ++a) {
    if (kernel.axes >> a & 1)
      count *= in.dims[a];
    else
      empty_result = empty_result || in.dims[a] == 0;
  }
  if (empty_result) return Status::ok;
  kernel.narrow ? reduce<std::uint16_t>(kernel, args, count) : reduce<float>(kernel, args, count);
  return Status::ok;
}

}  // namespace

Tactic cpu_reduce_blocks() {
  return {.name = "reduce_blocks",
          .ops = {{"GlobalAveragePool", "global_average_pool_blocks"},
                  {"GlobalMaxPool", "global_max_pool_blocks"},
                  {"ReduceL1", "reduce_l1_blocks"},
                  {"ReduceL2", "reduce_l2_blocks"},
                  {"ReduceMax", "reduce_max_blocks"},
                  {"ReduceMean", "reduce_mean_blocks"},
                  {"ReduceMin", "reduce_min_blocks"},
                  {"ReduceSum", "reduce_sum_blocks"},
                  {"ReduceSumSquare", "reduce_sum_square_blocks"}},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"GlobalAveragePool f32[2,70,9,11]",
                    "ReduceMean f32[3,70,300] axes=[1] keepdims=0",
                    "ReduceSum f32[3,70,300] axes=[0,2]",
                    "ReduceSum f32[5000]",
                    "ReduceMax f32[3,70,300] axes=[2]",
                    "ReduceL2 f32[3,7,30,5] axes=[0,2] keepdims=0"}};
}

}  // namespace tenfold::backends
