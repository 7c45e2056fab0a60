// Printing reduction kernels.
#include "backends/cuda/codegen/reduce/reduce.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"

namespace tenfold::backends::cuda {

std::string generate_reduce(ReduceKind kind, DType in, DType out) {
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  const bool max = kind == ReduceKind::max, min = kind == ReduceKind::min;
  define("IN", storage_type(in)), define("OUT", storage_type(out)), define("ROWS", kReduceRowsPerBlock), define("LANES", kReduceLanes),
      define("THREADS", kReduceThreads), define("ROOM", kReduceRoom);
  define("LOAD(e)", loaded(in, "(e)")), define("STORE(f)", stored(out, "(f)"));
  define("OP", max ? "Max" : min ? "Min" : "Sum"), define("START", max ? "-INFINITY_F" : min ? "INFINITY_F" : "0.f");
  define("MAP", kind == ReduceKind::absolutes ? "fabsf(e)" : kind == ReduceKind::squares || kind == ReduceKind::norm ? "e * e" : "e");
  define("FINISH", kind == ReduceKind::mean ? "r / (float)length" : kind == ReduceKind::norm ? "sqrtf(r)" : "r");
  return text.of("reduce/reduce.cu");
}

}  // namespace tenfold::backends::cuda
