// matmul_amx_whole: activations times a constant matrix of f32, each in three terms of bf16, which have all its bits: six products on AMX
// come as near as FMA does, so that --noTF32 has no say in it (conv_amx_split says more). Weights are read as f32 and split as they stream
// by.
#include "backends/cpu/tactics/gemm/matmul_amx_common.h"

namespace tenfold::backends {

Tactic cpu_matmul_amx_whole() { return cpu::matmul_amx("matmul_amx_whole", 2, 3); }

}  // namespace tenfold::backends
