// Printing the kernel of MaskedMean.
#include "backends/cuda/codegen/reduce/masked_mean.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

int masked_mean_width(const MaskedMeanProblem& p) {
  int width = 128 / bits(p.x);
  while (p.length % width != 0) width /= 2;
  return width;
}

std::string generate_masked_mean(const MaskedMeanProblem& p) {
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  define("IN", storage_type(p.x)), define("MASK", storage_type(p.mask)), define("LOAD(r)", loaded(p.x, "(r)"));
  define("LOAD_MASK(r)", loaded(p.mask, "(r)")), define("N", p.length), define("THREADS", kMaskedMeanThreads);
  define("WIDTH", masked_mean_width(p)), define("LEAST", cat("(float)", p.min_weight));
  define("LEAST_LENGTH", cat("(float)", p.min_length));
  define("PACKED", p.packed ? 1 : 0);
  define("NORMALIZE", p.normalize ? "true" : "false");
  return text.of("reduce/masked_mean.cu");
}

}  // namespace tenfold::backends::cuda
