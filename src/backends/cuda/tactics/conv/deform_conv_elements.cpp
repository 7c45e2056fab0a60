// deform_conv_elements: DeformConv, a thread for each element of the result.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  for (const OperandDesc& o : p.in)
    if (!o.missing && !is_short_float(o.dtype)) return Verdict::no(cat("an operand is ", name(o.dtype)));
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims, &y = p.out[0].dims;
  const std::int64_t groups = p.attributes->integer("group"), offset_groups = p.attributes->integer("offset_group");
  if (x.size() != 4) return Verdict::no("not two spatial dims");
  if (Verdict v = pads_are_known(p); !v) return v;
  // What the operator wants of its operands is compared by the reference alone, unless the types say it.
  if (!x[1].is_constant() || x[1].constant() % offset_groups != 0 || !w[0].is_constant() || w[0].constant() % groups != 0)
    return Verdict::no("channels do not divide into groups");
  if (w[1] * ir::Dim(groups) != x[1]) return Verdict::no("the weights are for another number of channels");
  const ir::Dim taps = w[2] * w[3] * ir::Dim(offset_groups);
  if (p.in[2].dims != ir::Dims{y[0], taps * ir::Dim(2), y[2], y[3]}) return Verdict::no("the offsets' extents are not those of the result");
  if (given(p, 3) && p.in[3].dims != ir::Dims{w[0]}) return Verdict::no("the bias is not one number for each channel");
  if (given(p, 4) && p.in[4].dims != ir::Dims{y[0], taps, y[2], y[3]}) return Verdict::no("the mask's extents are not those of the result");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  define_window(text, p);
  text.define("GROUP", p.attributes->integer("group")), text.define("OFFSET_GROUP", p.attributes->integer("offset_group"));
  return std::make_shared<OpenThreads>(p, opening, "conv/deform_conv_elements.cu", text);
}

}  // namespace

Tactic cuda_deform_conv_elements() {
  return {.name = "deform_conv_elements",
          .ops = {"DeformConv"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
