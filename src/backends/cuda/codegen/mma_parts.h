// What kernels on tensor cores share: products of fragments, and sums gathered into rows.
#pragma once

namespace tenfold::backends::cuda {

// multiply(c, a, b0, b1) of mma.m16n8k16, pair(low, high); expect MMA_TYPE to be defined: "f16" or "bf16".
const char* mma_helpers();
// exchange(pairs, lane): a thread of four has two columns of each of four pieces of eight; afterwards eight columns of one.
const char* exchange_helper();

}  // namespace tenfold::backends::cuda
