// Printing gather kernels.
#include "backends/cuda/codegen/index/gather.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"

namespace tenfold::backends::cuda {

std::string generate_gather(DType index, int piece_bytes) {
  KernelText text;
  text.define("BYTES", piece_bytes), text.define("THREADS", kGatherThreads), text.define("INDEX", storage_type(index));
  return text.of("index/gather.cu");
}

}  // namespace tenfold::backends::cuda
