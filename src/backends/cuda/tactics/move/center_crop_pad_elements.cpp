// center_crop_pad_elements: CenterCropPad, a thread for each element of the result.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<RANKY0>(a.out[0], i, at);
  const i64 to = offset<RANKY0>(a.out[0], at);
  bool there = true;
  #pragma unroll
  for (int d = 0; d < RANK0; ++d) {
    const i64 x = a.in[0].d[d], y = a.out[0].d[d];
    at[d] += max((i64)0, x - y) / 2 - max((i64)0, y - x) / 2;
    there = there && at[d] >= 0 && at[d] < x;
  }
  ((TY0*)a.out[0].p)[to] = there ? ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)] : (T0)0;
}
)";

Verdict supports(const Problem& p) { return can_generate_threads(p); }

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return std::make_shared<OpenThreads>(p, opening, "", kRule);
}

}  // namespace

Tactic cuda_center_crop_pad_elements() {
  return {.name = "center_crop_pad_elements",
          .ops = {"CenterCropPad"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
