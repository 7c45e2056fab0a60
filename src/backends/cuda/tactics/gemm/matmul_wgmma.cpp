// matmul_wgmma: activations times a constant matrix on Hopper's tensor cores, with any epilogue.
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/cuda/tactics/gemm/wgmma_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

FusedGemm read(const Problem& p) {
  FusedGemm fused;
  read_matmul(p, fused, F32::tf32);
  return fused;
}
Verdict supports(const Problem& p) {
  FusedGemm fused;
  const Verdict v = read_matmul(p, fused, F32::tf32);
  return v ? wgmma_fits(p, fused) : v;
}
std::vector<Config> configs(const Problem& p) { return wgmma_configs(p, read(p)); }
double work(const Problem& p) { return gemm_work(read(p)); }

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<WgmmaKernel>(read(p), c, p, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  return static_cast<const WgmmaKernel*>(self)->run(args, matmul_rows(args));
}

}  // namespace

Tactic cuda_matmul_wgmma() {
  return packed_tactic({.name = "matmul_wgmma",
                        .ops = {"MatMul", {"MatMulFloat8", "matmul_float8_wgmma"},
                                {"MatMulInteger", "matmul_integer_wgmma"}},
                        .cases = {"MatMul f32[2,700,260] f32[260,200]! numerics={round_to=tf32}",
                                  "MatMul f16[5,223,72] f16[72,264]!",
                                  "MatMul bf16[2600,136] bf16[136,104]!",
                                  "MatMulFloat8 f8e4m3fn[5,223,80] f8e4m3fn[80,272]!",
                                  "MatMulFloat8 f8e4m3fn[1100,1040] f8e4m3fn[1040,144]!",
                                  "MatMulInteger i8[5,223,80] i8[80,272]!",
                                  "MatMulInteger u8[1100,1040] i8[1040,144]! u8[]{131}"}},
                       {supports, configs, wgmma_valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run,
                        work});
}

}  // namespace tenfold::backends
