// Printing pooling kernels.
#include "backends/cuda/codegen/pool/pool.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string generate_pool(const PoolProblem& p) {
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  define("T", storage_type(p.dtype)), define("V", p.width), define("THREADS", kPoolThreads), define("CHANNELS_INNER", p.width > 1 ? 1 : 0);
  for (std::size_t d = 0; d < 3; ++d) {
    define(cat("K", d), p.kernel[d]), define(cat("S", d), p.stride[d]), define(cat("D", d), p.dilation[d]);
    define(cat("B", d), p.begin[d]), define(cat("E", d), p.end[d]);
  }
  define("INDEX", p.few ? "u32" : "i64"), define("CHANNELS", p.channels > 0 ? cat(p.channels) : "a.channels");
  for (std::size_t d = 0; d < 3; ++d) define(cat("OUT", d), p.out[d] > 0 ? cat(p.out[d]) : cat("a.out[", d, "]"));
  define("COUNT_PADS", p.count_pads ? 1 : 0);
  define("LOAD(e)", loaded(p.dtype, "(e)"));
  define("STORE(f)", is_float(p.dtype) ? stored(p.dtype, "(f)") : cat("(", storage_type(p.dtype), ")(f)"));
  define("START", p.is_max ? "-INFINITY_F" : "0.f"), define("JOIN(a, b)", p.is_max ? "max_nan(a, b)" : "((a) + (b))");
  define("FINISH", p.is_max ? "r[v]" : "r[v] / (float)max(count, 1)");
  return text.of("pool/pool.cu");
}

}  // namespace tenfold::backends::cuda
