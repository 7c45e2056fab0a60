// Printing attention of few queries whose keys the blocks of a cluster share.
#include "backends/cuda/codegen/attention/attention.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string generate_attention_split_kv(const AttentionProblem& p, std::int64_t rows, int split) {
  KernelText text;
  define_attention(text, p);
  text.define("ROWS", rows), text.define("SPLIT", split), text.define("UNROLL", rows <= 4 ? 4 : 2);
  text.define("CLUSTER", split > 1 ? cat("__cluster_dims__(", split, ", 1, 1)") : "");
  return text.of("attention/attention_split_kv.cu");
}

}  // namespace tenfold::backends::cuda
