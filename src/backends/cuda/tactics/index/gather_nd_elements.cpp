// gather_nd_elements: GatherND, a thread for each element of the result. An index outside the data gives zero and is noted.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<RANKY0>(a.out[0], i, at);
  i64 from = 0, row = 0;
  bool there = true;
  #pragma unroll
  for (int d = 0; d < RANK1 - 1; ++d) row += at[d] * a.in[1].s[d];
  #pragma unroll
  for (int d = 0; d < BATCH; ++d) from += at[d] * a.in[0].s[d], there = there && at[d] < a.in[0].d[d];
  #pragma unroll
  for (int k = 0; k < DEPTH; ++k) {
    i64 index = (i64)((const T1*)a.in[1].p)[row + k * a.in[1].s[RANK1 - 1]];
    there = inside(a, index, a.in[0].d[BATCH + k]) && there;
    from += index * a.in[0].s[BATCH + k];
  }
  #pragma unroll
  for (int d = BATCH + DEPTH; d < RANK0; ++d) from += at[RANK1 - 1 + d - BATCH - DEPTH] * a.in[0].s[d];
  ((TY0*)a.out[0].p)[offset<RANKY0>(a.out[0], at)] = there ? ((const T0*)a.in[0].p)[from] : (T0)0;
}
)";

Verdict supports(const Problem& p) {
  if (!is_index(p.in[1].dtype)) return Verdict::no("indices are not i32 or i64");
  if (!p.in[1].dims.back().is_constant()) return Verdict::no("how many dims are indexed is not known");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head = defined("BATCH", p.attributes->integer("batch_dims")) + defined("DEPTH", p.in[1].dims.back().constant());
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
}

}  // namespace

Tactic cuda_gather_nd_elements() {
  return {.name = "gather_nd_elements",
          .ops = {"GatherND"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"GatherND f16[3,40,50,7] i64[3,11,13,2](-40,39) batch_dims=1"}};
}

}  // namespace tenfold::backends
