// conv_elements: convolutions with a thread for each element of the result, where no library is and no matrix unit
// helps: of any floats, and of integers with zero points of both sides, groups and weights that are no constants; of 8 bits also where
// only the run knows how large an image is.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

bool of_integers(const Problem& p) { return p.op->name == "ConvInteger"; }
bool is_transposed(const Problem& p) { return p.op->name == "ConvTranspose"; }

// Whether matrix units compute it: those of 8 bits for images whose extents are known.
bool for_matrix_units(const Problem& p) {
  if (is_transposed(p) || !p.in[1].constant || p.attributes->integer("group") != 1) return false;
  if (bits(p.in[1].dtype) == 8) return !own(p, 3) && ir::is_constant(std::span(p.in[0].dims).subspan(1));
  return bits(p.in[1].dtype) == 16;
}

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
  if (for_matrix_units(p)) return Verdict::no("matrix units compute it");
  if (Verdict v = operands_suit(p); !v) return v;
  if (Verdict v = keeps_extents(p, p.body ? conv_extents(p, transposed) : p.out[0].dims); !v) return v;
  return can_generate_threads(p, true);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  define_window(text, p);
  text.define("GROUP", p.attributes->integer("group")), text.define("ZEROS", of_integers(p) ? 1 : 0);
  text.define("TRANSPOSED", is_transposed(p) ? 1 : 0);
  if (of_integers(p)) text.define("SUM", "int");
  else define_sum(text, p);
  return std::make_shared<OpenThreads>(p, opening, "conv/conv_elements.cu", text);
}

}  // namespace

Tactic cuda_conv_elements() {
  return {.name = "conv_elements",
          .ops = {"Conv",
                  {"ConvFloat8", "conv_float8_elements"},
                  {"ConvInteger", "conv_integer_elements"},
                  {"ConvTranspose", "conv_transpose_elements"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
