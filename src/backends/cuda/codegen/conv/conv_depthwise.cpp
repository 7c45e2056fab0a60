// Printing depthwise convolutions.
#include "backends/cuda/codegen/conv/conv_depthwise.h"

#include <algorithm>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/gemm/gemm_epilogue.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

int depthwise_width(const GemmProblem& p) {
  int width = 8;
  while (p.n % width != 0 || p.row_pitch() % width != 0) width /= 2;
  return width;
}

std::string generate_conv_depthwise(const GemmProblem& p) {
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  define("IN", storage_type(p.in)), define("WEIGHT", storage_type(p.weight)), define("OUT", storage_type(p.out));
  define("SUM", compute_type(p.sum())), define("LOAD(e)", loaded(p.in, "(e)")), define("LOAD_WEIGHT(e)", loaded(p.weight, "(e)"));
  define("THREADS", kDepthwiseThreads), define("N", p.n), define("PITCH", p.row_pitch()), define("MOST", depthwise_width(p));
  define("ZERO", p.zero_point < 0 ? "0" : cat("*(const ", storage_type(p.in), "*)a.epilogue[", p.zero_point, "]"));
  const char* axes[3] = {"Z", "Y", "X"};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto axis = [&](const char* what, std::int64_t value) { define(cat(what, axes[d]), value); };
    axis("I", p.in_extent[d]), axis("O", p.out_extent[d]), axis("K", p.kernel[d]), axis("S", p.stride[d]), axis("D", p.dilation[d]),
        axis("B", p.begin[d]);
  }
  text.define_code("EPILOGUE", print_epilogue(p, -1, [&](const std::string& y) { return cat("y[v] = ", stored(p.out, y), ";"); }));
  return text.of("conv/conv_depthwise.cu");
}

}  // namespace tenfold::backends::cuda
