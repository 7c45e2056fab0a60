// norm_gemm_mma: a kernel that reads each row for its deviation, then the kernel of matmul_mma.
#include "backends/cuda/tactics/gemm/norm_gemm_common.h"
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

FusedGemm read(const Problem& p) {
  FusedGemm fused;
  read_norm_gemm(p, fused);
  return fused;
}
Verdict supports(const Problem& p) {
  FusedGemm fused;
  return read_norm_gemm(p, fused);
}
std::vector<Config> configs(const Problem& p) { return mma_configs(p, read(p)); }
double work(const Problem& p) { return gemm_work(read(p)); }

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<NormGemmPlain>(p, read(p), &c, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const std::int64_t m = matmul_rows(args);
  return m == 0 ? Status::ok : static_cast<const NormGemmPlain*>(self)->run(args, m);
}

}  // namespace

Tactic cuda_norm_gemm_mma() {
  return packed_tactic({.name = "norm_gemm_mma", .ops = {"NormGemm"},
                        .cases = {"NormGemm f16[2,65,72] f16[72,384]!", "NormGemm bf16[33,131] bf16[131,35]!"}},
                       {supports, configs, mma_valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run, work});
}

}  // namespace tenfold::backends
