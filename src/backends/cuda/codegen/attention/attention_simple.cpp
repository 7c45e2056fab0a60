// Printing attention of any float type, a block for each query; and what becomes of a result.
#include "backends/cuda/codegen/attention/attention.h"
#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/gemm/gemm_epilogue.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string generate_attention_simple(const AttentionProblem& p) {
  KernelText text;
  define_attention(text, p);
  text.declare(attention_epilogue(p));
  return text.of("attention/attention_simple.cu");
}

std::string attention_epilogue(const AttentionProblem& p) {
  std::vector<std::string> results{"x"};
  const std::string code = p.body ? print_body(without_last_rounding(*p.body, p.out), {"x"}, "t", "  ", results, true) : "";
  return cat("__device__ __forceinline__ ", compute_type(p.out), " epilogue(float x) {\n", code, "  return ", results[0], ";\n}\n");
}

}  // namespace tenfold::backends::cuda
