// matmul_mma: activations times a constant matrix on tensor cores, with any epilogue.
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
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
  return read_matmul(p, fused, F32::tf32);
}
std::vector<Config> configs(const Problem& p) { return mma_configs(p, read(p)); }
double work(const Problem& p) { return gemm_work(read(p)); }

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<MmaKernel>(read(p), c, p, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  return static_cast<const MmaKernel*>(self)->run(args, matmul_rows(args));
}

}  // namespace

Tactic cuda_matmul_mma() {
  return packed_tactic({.name = "matmul_mma",
                        .ops = {"MatMul", {"MatMulFloat8", "matmul_float8_mma"},
                                {"MatMulInteger", "matmul_integer_mma"}},
                        .cases = {"MatMul f32[33,70] f32[70,65]! numerics={round_to=tf32}",
                                  "MatMulFloat8 f8e4m3fn[3,97] f8e4m3fn[97,37]!",
                                  "MatMulFloat8 f8e4m3fn[128,768] f8e4m3fn[768,384]!",
                                  "MatMulInteger i8[128,768] i8[768,384]! i8[]{-128}",
                                  "MatMulInteger u8[3,97] u8[97,37]! u8[]{7}"}},
                       {supports, configs, mma_valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run,
                        work});
}

}  // namespace tenfold::backends
