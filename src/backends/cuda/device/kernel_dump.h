// Kernels as files, for people who want to read, compile or change one by hand.
#pragma once

#include <string>

#include "base/files/hash.h"

namespace tenfold::backends::cuda {

// With TENFOLD_DUMP_KERNELS=DIR (the program's --dumpKernels) DIR/NAME-KEY-sm_90.cu, once for the process, and beside it the files that it
// includes, under the names by which it does: `nvcc -arch=sm_90a -I DIR -cubin DIR/NAME-KEY-sm_90.cu` compiles it. NAME is that of the file
// that it specializes. Throws io where a file cannot be written.
void dump_kernel(const std::string& source, int arch, Hash128 key);

}  // namespace tenfold::backends::cuda
