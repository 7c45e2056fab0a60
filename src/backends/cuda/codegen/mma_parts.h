// What kernels on tensor cores share: products of fragments, and sums gathered into rows.
#pragma once

#include <string>

#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

// multiply(c, a, b0, b1) of mma.m16n8k16, pair(low, high); expect MMA_TYPE to be defined: "f16" or "bf16".
const char* mma_helpers();
// multiply(c, a, b0, b1) of mma.m16n8k32 for elements of 8 bits: integers of either sign into sums of 32 bits, or e4m3 into floats. The
// registers hold what they hold for 16 bits, twice as many elements.
std::string mma_bytes_helper(DType a, DType b);
// to_tf32(x): a float as it lies in a register, rounded to the nearest tf32; multiply(c, a, b0, b1) of mma.m16n8k8 for such: the
// registers hold half as many elements as for 16 bits. Needs sm_80.
std::string mma_tf32_helper();
// PTX's name of an element type: "f16", "e4m3", "u8"; of f32 "tf32".
const char* mma_type(DType dtype);
// exchange(pairs, lane): a thread of four has two columns of each of four pieces of eight; afterwards eight columns of one.
const char* exchange_helper();

}  // namespace tenfold::backends::cuda
