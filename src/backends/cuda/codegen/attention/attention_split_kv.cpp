// Printing attention of few queries whose keys the blocks of a cluster share.
#include "backends/cuda/codegen/attention/attention.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string generate_attention_split_kv(const AttentionProblem& p, const SplitKv& shape) {
  KernelText text;
  define_attention(text, p);
  text.define("ROWS", shape.rows), text.define("QUERIES", shape.queries), text.define("MASK_SHARED", shape.mask_shared ? 1 : 0);
  text.define("SPLIT", shape.split), text.define("UNROLL", shape.rows <= 4 ? 4 : 2);
  text.define("CLUSTER", shape.split > 1 ? cat("__cluster_dims__(", shape.split, ", 1, 1)") : "");
  return text.of("attention/attention_split_kv.cu");
}

}  // namespace tenfold::backends::cuda
