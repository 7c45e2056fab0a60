// scatter_elements_lanes: ScatterElements with every reduction. The updates of one line along the axis follow each other. An index outside
// the data is noted and its update left out.
#include "backends/cuda/tactics/index/scatter_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(lane) {
  i64 at[8], rest = i;
  #pragma unroll
  for (int d = RANK2 - 1; d >= 0; --d) {
    const i64 extent = d == AXIS ? 1 : a.in[2].d[d];
    at[d] = rest % extent;
    rest /= extent;
  }
  const i64 index = offset<RANK2>(a.in[1], at), more = offset<RANK2>(a.in[2], at), to = offset<RANK2>(a.out[0], at);
  #pragma unroll
  for (int d = 0; d < RANK2; ++d)
    if (d != AXIS && (at[d] >= a.in[0].d[d] || at[d] >= a.in[1].d[d])) {
      *a.bad_index = 1;
      return;
    }
  for (i64 k = 0; k < a.in[2].d[AXIS]; ++k) {
    i64 place = (i64)((const T1*)a.in[1].p)[index + k * a.in[1].s[AXIS]];
    if (!inside(a, place, a.in[0].d[AXIS])) continue;
    T0* y = (T0*)a.out[0].p + to + place * a.out[0].s[AXIS];
    *y = combined(*y, ((const T0*)a.in[2].p)[more + k * a.in[2].s[AXIS]]);
  }
}
RULE(owner) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  T0 y = ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)];
  const i64 own = at[AXIS], to = offset<RANK0>(a.out[0], at);
  bool met = true;
  #pragma unroll
  for (int d = 0; d < RANK0; ++d) met = met && (d == AXIS || at[d] < a.in[2].d[d]);
  at[AXIS] = 0;
  const i64 index = offset<RANK0>(a.in[1], at), more = offset<RANK0>(a.in[2], at);
  for (i64 k = 0; k < (met ? a.in[2].d[AXIS] : 0); ++k) {
    i64 place = (i64)((const T1*)a.in[1].p)[index + k * a.in[1].s[AXIS]];
    if (inside(a, place, a.in[0].d[AXIS]) && place == own) y = combined(y, ((const T0*)a.in[2].p)[more + k * a.in[2].s[AXIS]]);
  }
  ((TY0*)a.out[0].p)[to] = y;
}
)";

Verdict supports(const Problem& p) {
  if (p.in[0].dims.empty()) return Verdict::no("a scalar has no axis");
  // What the operator wants of the updates is compared by the reference alone, unless the types say it.
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  const auto axis = static_cast<std::size_t>((p.attributes->integer("axis") + rank) % rank);
  if (p.in[1].dims != p.in[2].dims) return Verdict::no("there may be more or fewer updates than indices");
  for (std::size_t d = 0; d < p.in[0].dims.size(); ++d)
    if (d != axis && p.bounds(p.in[2].dims[d] - p.in[0].dims[d]).upper > 0) return Verdict::no("the updates may be larger than the data");
  return can_combine(p, p.in[2].dims[axis]);
}

struct Kernel {
  OpenThreads threads;
  std::size_t axis;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  const std::int64_t axis = (p.attributes->integer("axis") + rank) % rank;
  const std::vector<std::string> functions{"copy", "lane", "owner"};
  return std::make_shared<Kernel>(
      Kernel{OpenThreads(p, opening, defined("AXIS", axis) + scatter_defines(p), cat(kScatterText, kRule), functions),
             static_cast<std::size_t>(axis)});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const std::int64_t updates = args.in[2].dims[k.axis], all = elements_of(args.in[2]);
  return run_scatter(k.threads, args, updates > 0 ? all / updates : 0, updates);
}

}  // namespace

Tactic cuda_scatter_elements_lanes() {
  return {.name = "scatter_elements_lanes",
          .ops = {"ScatterElements"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"ScatterElements f32[500,7] i64[90,7](-500,499) f32[90,7] reduction=\"add\"",
                    "ScatterElements f32[40,5000] i64[9,4999](0,39) f32[9,4999]",
                    "ScatterElements f16[40,5000] i32[9,4999](0,39) f16[9,4999] reduction=\"add\""}};
}

}  // namespace tenfold::backends
