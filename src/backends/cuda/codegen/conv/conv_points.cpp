// Printing convolutions of single positions.
#include "backends/cuda/codegen/conv/conv_points.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/gemm/gemm_epilogue.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string generate_conv_points(const PointsProblem& p) {
  const GemmProblem& g = p.gemm;
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  define("OUT", storage_type(g.out)), define("N", g.n), define("K", g.k), define("LANES", p.lanes()), define("THREADS", kPointsThreads);
  define("AT_ONCE", kPointsAtOnce), define("WIDTH", 1), define("PLAIN", p.plain_result ? 1 : 0), define("PITCH", g.row_pitch());
  define("LOAD(e)", loaded(g.in, "(e)"));
  text.define_code("EPILOGUE", print_epilogue(g, -1, [&](const std::string& y) { return cat("y[v] = ", stored(g.out, y), ";"); }));
  return text.of("conv/conv_points.cu");
}

}  // namespace tenfold::backends::cuda
