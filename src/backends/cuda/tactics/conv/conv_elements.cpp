// conv_elements: convolutions with a thread for each element of the result, where no library is and no matrix unit
// helps: of any floats, and of integers with zero points of both sides, groups and weights that are no constants.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

// Weights are [filters, channels], or, transposed, [channels, filters]: of each group, where it is the second. A transposed
// convolution looks for what reaches the element.
constexpr const char* kRule = R"(
RULE(element) {
  const int strides[] = {STRIDES}, dilations[] = {DILATIONS}, pads[] = {PADS};
  i64 at[8], taps = 1;
  places<RANKY0>(a.out[0], i, at);
  const i64 depth = TRANSPOSED ? a.in[1].d[0] / GROUP : a.in[1].d[1], filters = TRANSPOSED ? a.in[1].d[1] : a.in[1].d[0] / GROUP;
  const i64 first = at[1] / filters * depth, step = a.in[1].s[!TRANSPOSED];
  const T0* x = (const T0*)a.in[0].p + at[0] * a.in[0].s[0] + first * a.in[0].s[1];
  const T1* w = (const T1*)a.in[1].p + (TRANSPOSED ? first * step + at[1] % filters * a.in[1].s[1] : at[1] * a.in[1].s[0]);
  SUM sum = 0, x_zero = 0, w_zero = 0;
#if ZEROS && OWN2
  x_zero = (SUM)*(const T2*)a.in[2].p;
#endif
#if ZEROS && OWN3
  w_zero = (SUM)((const T3*)a.in[3].p)[RANK3 > 0 && a.in[3].d[0] > 1 ? at[1] * a.in[3].s[0] : 0];
#endif
  #pragma unroll
  for (int d = 2; d < RANK1; ++d) taps *= a.in[1].d[d];
  for (i64 t = 0; t < taps; ++t) {
    i64 rest = t, from = 0, of_tap = 0;
    bool there = true;
    #pragma unroll
    for (int d = RANK1 - 1; d >= 2; --d) {
      const i64 tap = rest % a.in[1].d[d], reach = tap * dilations[d - 2];
#if TRANSPOSED
      const i64 place = at[d] + pads[d - 2] - reach, source = place / strides[d - 2];
      there = there && place >= 0 && place % strides[d - 2] == 0 && source < a.in[0].d[d];
#else
      const i64 source = at[d] * strides[d - 2] - pads[d - 2] + reach;
      there = there && source >= 0 && source < a.in[0].d[d];
#endif
      from += source * a.in[0].s[d], of_tap += tap * a.in[1].s[d];
      rest /= a.in[1].d[d];
    }
    if (!there) continue;
    for (i64 c = 0; c < depth; ++c)
      sum += ((SUM)LOAD0(x[from + c * a.in[0].s[1]]) - x_zero) * ((SUM)LOAD1(w[of_tap + c * step]) - w_zero);
  }
#if !ZEROS && OWN2
  sum += (SUM)LOAD2(((const T2*)a.in[2].p)[at[1] * a.in[2].s[0]]);
#endif
  finish(a, at, sum);
}
)";

bool of_integers(const Problem& p) { return p.op->name == "ConvInteger"; }
bool is_transposed(const Problem& p) { return p.op->name == "ConvTranspose"; }

// What the operator wants of its operands is compared by the reference alone, unless the types say it.
Verdict operands_suit(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims;
  const std::int64_t groups = p.attributes->integer("group");
  if (!w[0].is_constant() || w[0].constant() % groups != 0 || (is_transposed(p) ? w[0] : w[1] * ir::Dim(groups)) != x[1])
    return Verdict::no("channels do not suit the groups");
  const ir::Dims channels{is_transposed(p) ? w[1] * ir::Dim(groups) : w[0]};
  if (!of_integers(p)) return Verdict::only_if(!own(p, 2) || p.in[2].dims == channels, "the bias is not one number for each channel");
  if (own(p, 2) && ir::product(p.in[2].dims) != ir::Dim(1)) return Verdict::no("several zero points of the image");
  const bool suits = !own(p, 3) || ir::product(p.in[3].dims) == ir::Dim(1) || p.in[3].dims == channels;
  return Verdict::only_if(suits, "zero points are not one for each channel");
}

Verdict supports(const Problem& p) {
  const bool integers = of_integers(p), transposed = is_transposed(p);
  for (const OperandDesc* o : {&p.in[0], &p.in[1], &p.out[0]})
    if (!integers && (!has_c_type(o->dtype) || !is_float(o->dtype))) return Verdict::no(cat("an operand is ", name(o->dtype)));
  if (p.in[0].dims.size() < 3) return Verdict::no("there are no spatial dims");
  if (Verdict v = pads_are_known(p); !v) return v;
  if (!transposed && p.in[1].constant && p.attributes->integer("group") == 1 && (integers ? !own(p, 3) : bits(p.in[1].dtype) == 16))
    return Verdict::no("matrix units compute it");
  if (Verdict v = operands_suit(p); !v) return v;
  if (Verdict v = keeps_extents(p, p.body ? conv_extents(p, transposed) : p.out[0].dims); !v) return v;
  return can_generate_threads(p, true);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head = window_defines(p) + defined("GROUP", p.attributes->integer("group")) + defined("ZEROS", of_integers(p) ? 1 : 0) +
                           defined("TRANSPOSED", is_transposed(p) ? 1 : 0);
  return std::make_shared<OpenThreads>(p, opening, head + (of_integers(p) ? defined("SUM", "int") : sum_define(p)), kRule);
}

}  // namespace

Tactic cuda_conv_elements() {
  return {.name = "conv_elements",
          .ops = {"Conv",
                  {"ConvInteger", "conv_integer_elements"},
                  {"ConvTranspose", "conv_transpose_elements"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
