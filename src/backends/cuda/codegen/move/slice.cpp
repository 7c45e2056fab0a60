// Printing slices: a thread for each element of the result.
#include "backends/cuda/codegen/move/slice.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"

namespace tenfold::backends::cuda {

std::string generate_slice(DType index, int element_bytes, int rank) {
  const char* element = element_bytes == 1 ? "u8" : element_bytes == 2 ? "u16" : element_bytes == 4 ? "u32" : "u64";
  KernelText text;
  text.define("ELEMENT", element), text.define("INDEX", storage_type(index)), text.define("RANK", rank);
  text.define("THREADS", kSliceThreads);
  return text.of("move/slice.cu");
}

}  // namespace tenfold::backends::cuda
