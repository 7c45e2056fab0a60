// Printing a product and the norm of its rows where addresses are such that TMA does not take them: a block for each row.
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/gemm/gemm_wgmma.h"

namespace tenfold::backends::cuda {

void define_norm(KernelText& text, const GemmLayerNormProblem& p) {
  const auto define = [&](const std::string& name, const auto& value) { text.define(name, value); };
  define("BF16", p.type == DType::bf16 ? 1 : 0), define("N", p.n), define("K", p.k), define("THREADS", kPlainNormThreads);
  define("STAGED", p.added ? 1 : 0), define("KEPT", p.kept ? 1 : 0), define("HAS_ROW", p.has_row ? 1 : 0);
  define("EPSILON", cat(p.epsilon, "f")), define("LOAD(x)", loaded(p.type, "(x)")), define("STORE(x)", stored(p.type, "(x)"));
  const auto constant = [&](const std::string& name, DType type) {
    define(name, storage_type(type)), define("LOAD_" + name + "(x)", loaded(type, "(x)"));
  };
  constant("SCALE", p.scale), constant("BIAS", p.bias), constant("ROW", p.row);
}

std::string generate_plain_norm(const GemmLayerNormProblem& p) {
  KernelText text;
  define_norm(text, p);
  return text.of("gemm/gemm_norm_plain.cu");
}

}  // namespace tenfold::backends::cuda
