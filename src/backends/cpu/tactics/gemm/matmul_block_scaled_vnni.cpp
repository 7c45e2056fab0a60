// matmul_block_scaled_vnni: as matmul_block_scaled, but few rows are taken as integers of 16 bits beside the largest value of a block, of
// which AVX512_VNNI multiplies four with four weights at once, and scales in 24 bits.
#include "backends/cpu/tactics/gemm/block_scaled_common.h"

namespace tenfold::backends {

Tactic cpu_matmul_block_scaled_vnni() { return cpu::block_scaled_tactic("matmul_block_scaled_vnni", true); }

}  // namespace tenfold::backends
