// trilu_elements: Trilu, a thread for each element; the kernel reads which diagonal.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  i64 diagonal = 0;
#if GIVEN1
  diagonal = (i64)*(const T1*)a.in[1].p;
#endif
  const i64 distance = at[RANK0 - 1] - at[RANK0 - 2];
  const bool kept = UPPER ? distance >= diagonal : distance <= diagonal;
  ((TY0*)a.out[0].p)[offset<RANK0>(a.out[0], at)] = kept ? ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)] : (T0)0;
}
)";

Verdict supports(const Problem& p) {
  if (given(p, 1) && !is_index(p.in[1].dtype)) return Verdict::no("the diagonal is not i32 or i64");
  if (given(p, 1) && ir::product(p.in[1].dims) != ir::Dim(1)) return Verdict::no("the diagonal is no single number");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head = defined("UPPER", p.attributes->integer("upper") != 0 ? 1 : 0);
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
}

}  // namespace

Tactic cuda_trilu_elements() {
  return {.name = "trilu_elements",
          .ops = {"Trilu"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"Trilu f16[3,70,90] i64[]{-7} upper=0"}};
}

}  // namespace tenfold::backends
