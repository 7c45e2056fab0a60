// What of a compiled kernel decides what a GPU does: for proofs that two texts are the same to it.
#pragma once

#include <string_view>

#include "base/files/hash.h"

namespace tenfold::backends::cuda {

// Of instructions, constants, and the sizes of registers and memories in a cubin; not of names of files, lines, notes or symbols'
// places. Throws internal where `cubin` is none.
Hash128 machine_code_hash(std::string_view cubin);

}  // namespace tenfold::backends::cuda
