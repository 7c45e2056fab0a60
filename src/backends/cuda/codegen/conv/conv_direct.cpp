// Printing direct convolutions.
#include "backends/cuda/codegen/conv/conv_direct.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string generate_conv_direct(const DirectConvProblem& p) {
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  define("T", storage_type(p.dtype)), define("ACC", p.dtype == DType::f64 ? "double" : "float"), define("THREADS", kDirectThreads);
  define("LOAD(e)", loaded(p.dtype, "(e)")), define("STORE(e)", stored(p.dtype, "(e)"));
  define("FILTERS", p.filters), define("DEPTH", p.depth), define("GROUPS", p.groups), define("BIASED", p.has_bias ? 1 : 0);
  for (std::size_t d = 0; d < 3; ++d)
    define(cat("K", d), p.kernel[d]), define(cat("S", d), p.stride[d]), define(cat("D", d), p.dilation[d]), define(cat("B", d), p.begin[d]);
  return text.of("conv/conv_direct.cu");
}

}  // namespace tenfold::backends::cuda
