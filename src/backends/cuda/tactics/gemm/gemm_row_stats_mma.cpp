// gemm_row_stats_mma: the kernel of matmul_mma, then one that reads each row of the sums again.
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/cuda/tactics/gemm/gemm_row_stats_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

FusedGemm read(const Problem& p) {
  FusedGemm fused;
  read_gemm_row_stats(p, fused);
  return fused;
}
Verdict supports(const Problem& p) {
  FusedGemm fused;
  return read_gemm_row_stats(p, fused);
}
std::vector<Config> configs(const Problem& p) { return mma_configs(p, read(p)); }
double work(const Problem& p) { return gemm_work(read(p)); }

struct Kernel {
  Kernel(const Problem& p, const Config& c, Opening& opening)
      : fused(read(p), c, p, opening), moments(p, fused.gemm(), static_cast<int>(fused.gemm().n), opening) {}
  MmaKernel fused;
  MomentsKernel moments;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<Kernel>(p, c, opening);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const std::int64_t m = matmul_rows(args);
  if (m == 0) return Status::ok;
  if (const Status::Code code = k.fused.run(args, m); code != Status::ok) return code;
  return k.moments.run(args, m, nullptr);
}

}  // namespace

Tactic cuda_gemm_row_stats_mma() {
  return packed_tactic({.name = "gemm_row_stats_mma", .ops = {"GemmRowStats"},
                        .cases = {"GemmRowStats f16[5,230,72] f16[72,384]! f32[384]! f16[5,230,384] "
                                  "f32[5,230,1](0.5,2) "
                                  "f32[5,230,1] f16[384]!",
                                  "GemmRowStats bf16[1100,136] bf16[136,192]! bf16[192]! bf16[1100,192]",
                                  "GemmRowStats f16[3300,64] f16[64,64]!"}},
                       {supports, configs, mma_valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run,
                        work});
}

}  // namespace tenfold::backends
