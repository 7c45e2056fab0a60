// lp_pool_elements: LpPool, a thread for each window.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  const int kernel[] = {KERNEL}, strides[] = {STRIDES}, dilations[] = {DILATIONS}, pads[] = {PADS};
  i64 at[8];
  places<RANK0>(a.out[0], i, at);
  const i64 to = offset<RANK0>(a.out[0], at);
  const T0* x = (const T0*)a.in[0].p + at[0] * a.in[0].s[0] + at[1] * a.in[0].s[1];
  float sum = 0.f;
  for (int k = 0; k < TAPS; ++k) {
    i64 from = 0;
    int rest = k;
    bool there = true;
    #pragma unroll
    for (int d = RANK0 - 1; d >= 2; --d) {
      const i64 place = at[d] * strides[d - 2] - pads[d - 2] + (i64)(rest % kernel[d - 2]) * dilations[d - 2];
      there = there && place >= 0 && place < a.in[0].d[d];
      from += place * a.in[0].s[d];
      rest /= kernel[d - 2];
    }
    if (!there) continue;
    const float v = fabsf(LOAD0(x[from]));
    sum += POWER == 1 ? v : POWER == 2 ? v * v : powf(v, (float)POWER);
  }
  const float r = POWER == 1 ? sum : POWER == 2 ? sqrtf(sum) : powf(sum, 1.f / (float)POWER);
  ((TY0*)a.out[0].p)[to] = STOREY0(r);
}
)";

Verdict supports(const Problem& p) {
  if (!is_short_float(p.in[0].dtype)) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  if (p.in[0].dims.size() < 3) return Verdict::no("there are no spatial dims");
  if (Verdict v = pads_are_known(p); !v) return v;
  std::int64_t taps = 1;
  for (std::int64_t k : p.attributes->ints("kernel_shape", {})) taps *= std::min<std::int64_t>(k, 1 << 16);
  return taps < 1 << 20 ? can_generate_threads(p) : Verdict::no("the window is too large");
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const ir::Ints kernel = p.attributes->ints("kernel_shape", ir::Ints(p.in[0].dims.size() - 2, 1));
  std::int64_t taps = 1;
  for (std::int64_t k : kernel) taps *= k;
  const std::string head =
      window_defines(p) + defined("KERNEL", listed(kernel)) + defined("TAPS", taps) + defined("POWER", p.attributes->integer("p"));
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
}

}  // namespace

Tactic cuda_lp_pool_elements() {
  return {.name = "lp_pool_elements",
          .ops = {"LpPool"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"LpPool f32[2,7,33,29] kernel_shape=[3,5] strides=[2,2] pads=[1,2,1,2] p=3"}};
}

}  // namespace tenfold::backends
