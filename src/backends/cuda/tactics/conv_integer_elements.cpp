// conv_integer_elements: ConvInteger with zero points of both sides, groups and weights that are no constants, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  const int strides[] = {STRIDES}, dilations[] = {DILATIONS}, pads[] = {PADS};
  i64 at[8], taps = 1;
  places<RANKY0>(a.out[0], i, at);
  int x_zero = 0, w_zero = 0;
#if OWN2
  x_zero = (int)*(const T2*)a.in[2].p;
#endif
#if OWN3
  w_zero = (int)((const T3*)a.in[3].p)[RANK3 > 0 && a.in[3].d[0] > 1 ? at[1] * a.in[3].s[0] : 0];
#endif
  const i64 depth = a.in[1].d[1];
  const T0* x = (const T0*)a.in[0].p + at[0] * a.in[0].s[0] + at[1] / (a.in[1].d[0] / GROUP) * depth * a.in[0].s[1];
  const T1* w = (const T1*)a.in[1].p + at[1] * a.in[1].s[0];
  #pragma unroll
  for (int d = 2; d < RANK1; ++d) taps *= a.in[1].d[d];
  SUM sum = 0;
  for (i64 t = 0; t < taps; ++t) {
    i64 rest = t, from = 0, of_tap = 0;
    bool there = true;
    #pragma unroll
    for (int d = RANK1 - 1; d >= 2; --d) {
      const i64 tap = rest % a.in[1].d[d], place = at[d] * strides[d - 2] - pads[d - 2] + tap * dilations[d - 2];
      there = there && place >= 0 && place < a.in[0].d[d];
      from += place * a.in[0].s[d], of_tap += tap * a.in[1].s[d];
      rest /= a.in[1].d[d];
    }
    if (!there) continue;
    for (i64 c = 0; c < depth; ++c) sum += ((int)x[from + c * a.in[0].s[1]] - x_zero) * ((int)w[of_tap + c * a.in[1].s[1]] - w_zero);
  }
  finish(a, at, sum);
}
)";

Verdict supports(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims;
  const std::int64_t groups = p.attributes->integer("group");
  if (x.size() < 3) return Verdict::no("there are no spatial dims");
  if (Verdict v = pads_are_known(p); !v) return v;
  // What the operator wants of its operands is compared by the reference alone, unless the types say it.
  if (p.in[1].constant && !own(p, 3) && groups == 1) return Verdict::no("matrix units compute it");
  if (!w[0].is_constant() || w[0].constant() % groups != 0 || w[1] * ir::Dim(groups) != x[1])
    return Verdict::no("channels do not suit the groups");
  if (own(p, 2) && ir::product(p.in[2].dims) != ir::Dim(1)) return Verdict::no("several zero points of the image");
  if (own(p, 3) && ir::product(p.in[3].dims) != ir::Dim(1) && p.in[3].dims != ir::Dims{w[0]})
    return Verdict::no("zero points are not one for each channel");
  if (Verdict v = keeps_extents(p, p.body ? conv_extents(p) : p.out[0].dims); !v) return v;
  return can_generate_threads(p, true);
}

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  const std::string head = window_defines(p) + defined("GROUP", p.attributes->integer("group")) + defined("SUM", "int");
  return std::make_shared<OpenThreads>(p, head, kRule);
}

}  // namespace

Tactic cuda_conv_integer_elements() {
  return {.name = "conv_integer_elements",
          .op = "ConvInteger",
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
