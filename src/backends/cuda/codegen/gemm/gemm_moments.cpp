// Printing the kernels that tell of a product's rows.
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/gemm/gemm_wgmma.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string generate_moments(const GemmProblem& p, int columns, double epsilon) {
  KernelText text;
  text.define("N", p.n), text.define("COLUMNS", columns), text.define("THREADS", kMomentsThreads),
      text.define("EPSILON", cat(epsilon, "f"));
  text.define("LOAD(x)", loaded(p.out, "(x)"));
  return text.of("gemm/gemm_moments.cu");
}

}  // namespace tenfold::backends::cuda
