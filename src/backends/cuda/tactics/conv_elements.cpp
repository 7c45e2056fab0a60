// conv_elements: Conv of any types, a thread for each element of the result: where no library is and no matrix unit helps.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  const int strides[] = {STRIDES}, dilations[] = {DILATIONS}, pads[] = {PADS};
  i64 at[8], taps = 1;
  places<RANKY0>(a.out[0], i, at);
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
    for (i64 c = 0; c < depth; ++c) sum += (SUM)LOAD0(x[from + c * a.in[0].s[1]]) * (SUM)LOAD1(w[of_tap + c * a.in[1].s[1]]);
  }
#if OWN2
  sum += (SUM)LOAD2(((const T2*)a.in[2].p)[at[1] * a.in[2].s[0]]);
#endif
  finish(a, at, sum);
}
)";

Verdict supports(const Problem& p) {
  for (const OperandDesc* o : {&p.in[0], &p.in[1], &p.out[0]})
    if (!has_c_type(o->dtype) || !is_float(o->dtype)) return Verdict::no(cat("an operand is ", name(o->dtype)));
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims;
  const std::int64_t groups = p.attributes->integer("group");
  if (x.size() < 3) return Verdict::no("there are no spatial dims");
  if (Verdict v = pads_are_known(p); !v) return v;
  // What the operator wants of its operands is compared by the reference alone, unless the types say it.
  if (p.in[1].constant && groups == 1 && bits(p.in[1].dtype) == 16) return Verdict::no("matrix units compute it");
  if (!w[0].is_constant() || w[0].constant() % groups != 0 || w[1] * ir::Dim(groups) != x[1])
    return Verdict::no("channels do not suit the groups");
  if (own(p, 2) && p.in[2].dims != ir::Dims{w[0]}) return Verdict::no("the bias is not one number for each channel");
  if (Verdict v = keeps_extents(p, p.body ? conv_extents(p) : p.out[0].dims); !v) return v;
  return can_generate_threads(p, true);
}

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  return std::make_shared<OpenThreads>(p, window_defines(p) + defined("GROUP", p.attributes->integer("group")) + sum_define(p), kRule);
}

}  // namespace

Tactic cuda_conv_elements() {
  return {.name = "conv_elements", .op = "Conv", .supports = supports, .configs = one_config, .open = open, .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
