// reduce_threads: reductions and global poolings over any axes, in any layout and strides: a warp or a column of
// threads for each result.
#include <algorithm>
#include <bit>

#include "backends/cuda/codegen/reduce/reduce.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "backends/problems/reduce_axes.h"
#include "base/checked.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

bool is_supported(DType t) { return t == DType::f32 || t == DType::f16 || t == DType::bf16; }

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  if (!is_supported(p.in[0].dtype) || !is_supported(p.out[0].dtype)) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  if (p.in[0].dims.empty() || p.in[0].dims.size() > kReduceAxes) return Verdict::no("no axis, or too many");
  if (p.in.size() > 1 && !p.in[1].missing) return Verdict::no("the axes are data");
  if (p.bounds(ir::product(p.in[0].dims)).upper >= std::int64_t{1} << 31) return Verdict::no("too many elements");
  return Verdict::only_if(reduced_axes(p) != 0, "nothing is reduced");
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all{{std::vector<Layout>(p.in.size(), kPlain), {kPlain}}};
  if (p.in[0].dims.size() < 3 || p.in.size() > 1) return all;
  if (p.out[0].dims.size() == p.in[0].dims.size()) all.push_back({{kChannelsLast}, {kChannelsLast}});
  all.push_back({{kChannelsLast}, {kPlain}});
  return all;
}

ReduceKind kind_of(ir::ReductionKind kind) {
  switch (kind) {
    case ir::ReductionKind::mean: return ReduceKind::mean;
    case ir::ReductionKind::max: return ReduceKind::max;
    case ir::ReductionKind::min: return ReduceKind::min;
    case ir::ReductionKind::absolutes: return ReduceKind::absolutes;
    case ir::ReductionKind::squares: return ReduceKind::squares;
    case ir::ReductionKind::norm: return ReduceKind::norm;
    default: return ReduceKind::sum;
  }
}

// Whether a result's elements may be read 16 bytes at once.
bool is_wide(const ReduceArguments& a, int element_bytes) {
  const std::int64_t vector = 16 / element_bytes;
  bool wide = a.reduced_axes == 1 && a.x_reduced[kReduceAxes - 1] == 1 && a.length % vector == 0;
  for (std::int64_t k = kReduceAxes - a.kept_axes; k < kReduceAxes; ++k) wide = wide && a.x_kept[k] % vector == 0;
  return wide && reinterpret_cast<std::uintptr_t>(a.x) % 16 == 0;
}

// Whether results may be computed, and their elements read, 16 bytes at once.
bool comes_in_vectors(const ReduceArguments& a, int element_bytes) {
  constexpr int kInner = kReduceAxes - 1;
  const std::int64_t vector = 16 / element_bytes;
  bool whole = a.kept_axes > 0 && a.x_kept[kInner] == 1 && a.kept[kInner] % vector == 0;
  for (std::int64_t k = kReduceAxes - a.kept_axes; k < kInner; ++k) whole = whole && a.x_kept[k] % vector == 0;
  for (std::int64_t k = kReduceAxes - a.reduced_axes; k < kReduceAxes; ++k) whole = whole && a.x_reduced[k] % vector == 0;
  return whole && reinterpret_cast<std::uintptr_t>(a.x) % 16 == 0;
}

// Rows that lie one behind the other and are so short that a warp would have little to do for each: how many of them a block takes, in
// multiples of 8, so that the next block's begin at a multiple of 16 bytes; else 0.
std::int64_t packed_rows(const ReduceArguments& a, int element_bytes) {
  constexpr int kInner = kReduceAxes - 1;
  constexpr std::int64_t kShort = 1024, kFewBlocks = 528;
  const std::int64_t bytes = a.length * element_bytes;
  const bool lie_behind = a.reduced_axes == 1 && a.x_reduced[kInner] == 1 && a.kept_axes == 1 && a.x_kept[kInner] == a.length;
  if (!lie_behind || bytes < 1 || bytes > kShort || reinterpret_cast<std::uintptr_t>(a.x) % 16 != 0) return 0;
  std::int64_t rows = kReduceRoom / bytes / 8 * 8;
  while (rows > 8 && ceil_div(a.results, rows) < kFewBlocks) rows = rows / 16 * 8;
  return rows;
}

// Vectors of a block of column_vectors: 128 bytes side by side, more where there are few elements for each thread, fewer where blocks are.
std::int64_t vectors_across(const ReduceArguments& a, int element_bytes) {
  constexpr std::int64_t kFewBlocks = 264, kElements = 4;
  const std::int64_t vectors = ceil_div(a.results, std::int64_t{16 / element_bytes});
  std::int64_t across = 8;
  while (across < 32 && kReduceThreads / across * kElements > a.length) across *= 2;
  while (across > 2 && ceil_div(vectors, across) < kFewBlocks) across /= 2;
  return across;
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  int element_bytes = 4;
  Function rows = nullptr, columns = nullptr, packed_rows = nullptr, column_vectors = nullptr;
  std::uint32_t axes = 0;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->module = device_of(*p.device).load(generate_reduce(kind_of(p.op->traits.reduction), p.in[0].dtype, p.out[0].dtype), opening);
  k->rows = k->module->function("rows"), k->columns = k->module->function("columns");
  k->packed_rows = k->module->function("packed_rows"), k->column_vectors = k->module->function("column_vectors");
  k->axes = reduced_axes(p);
  k->element_bytes = bits(p.in[0].dtype) / 8;
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  // Axes in the order of the input's strides, so that neighboring threads read neighboring elements.
  int order[kReduceAxes];
  for (int a = 0; a < x.rank; ++a) order[a] = a;
  std::stable_sort(order, order + x.rank, [&](int a, int b) { return x.strides[a] > x.strides[b]; });
  ReduceArguments a{.x = x.data, .y = y.data, .results = 1, .length = 1};
  int kept = kReduceAxes, reduced = kReduceAxes;  // the outermost axis of each kind so far
  bool reduced_inside = true;
  std::int64_t min = INT64_MAX;
  for (int at = x.rank; at-- > 0;) {
    const int axis = order[at];
    const std::int64_t extent = x.dims[axis], stride = x.strides[axis];
    const bool is_reduced = k.axes >> axis & 1;
    (is_reduced ? a.length : a.results) *= extent;
    if (extent == 1) continue;
    if (stride < min) min = stride, reduced_inside = is_reduced;
    if (is_reduced) {
      if (reduced < kReduceAxes && stride == a.x_reduced[reduced] * a.reduced[reduced])
        a.reduced[reduced] *= extent;
      else
        a.reduced[--reduced] = extent, a.x_reduced[reduced] = stride;
      continue;
    }
    int own = axis;
    if (y.rank != x.rank) own -= std::popcount(k.axes & ((1u << axis) - 1));
    if (kept < kReduceAxes && stride == a.x_kept[kept] * a.kept[kept] && y.strides[own] == a.y_kept[kept] * a.kept[kept])
      a.kept[kept] *= extent;
    else
      a.kept[--kept] = extent, a.x_kept[kept] = stride, a.y_kept[kept] = y.strides[own];
  }
  a.kept_axes = kReduceAxes - kept, a.reduced_axes = kReduceAxes - reduced;
  const auto start = [&](Function f, std::int64_t results, int threads) {
    const Grid grid{ceil_div(a.results, results)};
    return launch(queue_of(args), f, grid, static_cast<unsigned>(threads), 0, &a, Start::early);
  };
  if (reduced_inside) {
    a.across = packed_rows(a, k.element_bytes);
    if (a.across > 0) return start(k.packed_rows, a.across, kReduceThreads);
    a.wide = is_wide(a, k.element_bytes);
    return start(k.rows, kReduceRowsPerBlock, 32 * kReduceRowsPerBlock);
  }
  if (!comes_in_vectors(a, k.element_bytes)) return start(k.columns, 32, 32 * kReduceLanes);
  a.across = vectors_across(a, k.element_bytes);
  return start(k.column_vectors, a.across * (16 / k.element_bytes), kReduceThreads);
}

}  // namespace

Tactic cuda_reduce_threads() {
  return {.name = "reduce_threads",
          .ops = {{"GlobalAveragePool", "global_average_pool_threads"},
                  {"GlobalMaxPool", "global_max_pool_threads"},
                  {"ReduceL1", "reduce_l1_threads"},
                  {"ReduceL2", "reduce_l2_threads"},
                  {"ReduceMax", "reduce_max_threads"},
                  {"ReduceMean", "reduce_mean_threads"},
                  {"ReduceMin", "reduce_min_threads"},
                  {"ReduceSum", "reduce_sum_threads"},
                  {"ReduceSumSquare", "reduce_sum_square_threads"}},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"GlobalAveragePool f16[2,70,9,11]",
                    "GlobalAveragePool f16[3,64,7,7]",
                    "ReduceMean f16[3,70,304] axes=[1] keepdims=0",
                    "ReduceMean bf16[3,70,300] axes=[2]",
                    "ReduceSum f16[9,3000] axes=[1]",
                    "ReduceSum f16[3,70,300] axes=[1] keepdims=0"}};
}

}  // namespace tenfold::backends
