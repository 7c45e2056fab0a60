// scatter_nd_lanes: ScatterND whose updates are combined. Those of one element of the slices follow each other. An index outside the data
// is noted and its update left out.
#include "backends/cuda/tactics/index/scatter_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
// Where row k of the indices points to; -1: outside.
__device__ __forceinline__ i64 target(const Arguments& a, i64 k) {
  i64 at[8], from = 0, to = 0;
  places<RANK1 - 1>(a.in[1], k, at);
  #pragma unroll
  for (int d = 0; d < RANK1 - 1; ++d) from += at[d] * a.in[1].s[d];
  bool there = true;
  #pragma unroll
  for (int d = 0; d < DEPTH; ++d) {
    i64 place = (i64)((const T1*)a.in[1].p)[from + d * a.in[1].s[RANK1 - 1]];
    there = inside(a, place, a.in[0].d[d]) && there;
    to = to * a.in[0].d[d] + place;
  }
  return there ? to : -1;
}
// Element i of slice k of the updates, and its place in the result.
__device__ __forceinline__ T0 update(const Arguments& a, i64 k, i64 i, i64 slice) {
  return ((const T0*)a.in[2].p)[linear<RANK2>(a.in[2], k * slice + i)];
}
__device__ __forceinline__ i64 rows(const Arguments& a) {
  i64 count = 1;
  #pragma unroll
  for (int d = 0; d < RANK1 - 1; ++d) count *= a.in[1].d[d];
  return count;
}
__device__ __forceinline__ i64 slice_of(const Arguments& a) {
  i64 count = 1;
  #pragma unroll
  for (int d = DEPTH; d < RANK0; ++d) count *= a.in[0].d[d];
  return count;
}
RULE(lane) {
  const i64 slice = slice_of(a), count = rows(a);
  for (i64 k = 0; k < count; ++k) {
    const i64 to = target(a, k);
    if (to < 0) continue;
    T0* y = (T0*)a.out[0].p + linear<RANK0>(a.out[0], to * slice + i);
    *y = combined(*y, update(a, k, i, slice));
  }
}
RULE(owner) {
  const i64 slice = slice_of(a), count = rows(a);
  T0 y = ((const T0*)a.in[0].p)[linear<RANK0>(a.in[0], i)];
  for (i64 k = 0; k < count; ++k)
    if (target(a, k) == i / slice) y = combined(y, update(a, k, i % slice, slice));
  ((TY0*)a.out[0].p)[linear<RANK0>(a.out[0], i)] = y;
}
)";

Verdict supports(const Problem& p) {
  if (p.attributes->string("reduction", "none") == "none")
    return Verdict::no("updates are not combined, so they need not wait for each other");
  if (!p.in[1].dims.back().is_constant()) return Verdict::no("how many dims are indexed is not known");
  // What the operator wants of the updates is compared by the reference alone, unless the types say it.
  const auto depth = static_cast<std::ptrdiff_t>(p.in[1].dims.back().constant());
  ir::Dims wanted(p.in[1].dims.begin(), p.in[1].dims.end() - 1);
  wanted.insert(wanted.end(), p.in[0].dims.begin() + depth, p.in[0].dims.end());
  if (p.in[2].dims != wanted) return Verdict::no("the updates' extents are not those that indices and data ask for");
  return can_combine(p, ir::product(std::span(p.in[1].dims).first(p.in[1].dims.size() - 1)));
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head = defined("DEPTH", p.in[1].dims.back().constant()) + scatter_defines(p);
  return std::make_shared<OpenThreads>(p, opening, head, cat(kScatterText, kRule), std::vector<std::string>{"copy", "lane", "owner"});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const std::int64_t depth = args.in[1].dims[args.in[1].rank - 1];
  std::int64_t rows = 1, slice = 1;
  for (int d = 0; d + 1 < args.in[1].rank; ++d) rows *= args.in[1].dims[d];
  for (std::int64_t d = depth; d < args.in[0].rank; ++d) slice *= args.in[0].dims[d];
  return run_scatter(*static_cast<const OpenThreads*>(self), args, slice, rows);
}

}  // namespace

Tactic cuda_scatter_nd_lanes() {
  return {.name = "scatter_nd_lanes",
          .ops = {"ScatterND"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"ScatterND f32[40,5000] i64[9,1](0,39) f32[9,5000] reduction=\"add\"",
                    "ScatterND f32[30,20,3] i64[70,2](0,19) f32[70,3] reduction=\"min\""}};
}

}  // namespace tenfold::backends
