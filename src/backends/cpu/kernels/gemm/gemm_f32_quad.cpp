// f32 products by tiles of four vectors' width: ten loads for 24 FMAs, where loads of 64 bytes bind narrower tiles.
#ifdef TENFOLD_ISA_avx512
#define TENFOLD_PANEL_VECTORS 4
#include "backends/cpu/kernels/gemm/gemm_f32_tiles.h"

namespace tenfold::backends::cpu {

extern "C" const GemmF32Kernels TENFOLD_TABLE(gemm_f32_quad) = kTiles;

}  // namespace tenfold::backends::cpu
#endif
