// norm_gemm_skinny_wgmma: the kernel of matmul_skinny_wgmma, in which more warps find the deviation of the rows that the block multiplies.
#include "backends/cuda/tactics/gemm/norm_gemm_common.h"
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/cuda/tactics/gemm/skinny_common.h"
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
  if (Verdict v = read_norm_gemm(p, fused); !v) return v;
  return skinny_fits(p, fused, true);
}
std::vector<Config> configs(const Problem& p) { return skinny_configs(p, read(p), true); }
Verdict valid(const Problem& p, const Config& c) { return skinny_valid(p, read(p), c, true); }
double work(const Problem& p) { return gemm_work(read(p)); }

struct Kernel {
  Kernel(const Problem& p, const Config& c, Opening& opening)
      : fused(read(p), static_cast<double>(p.attributes->number("epsilon")), c, p, opening) {
    if (p.may_be_misaligned()) plain = std::make_unique<const NormGemmPlain>(p, read(p), nullptr, opening);
  }
  SkinnyKernel fused;
  std::unique_ptr<const NormGemmPlain> plain;  // for addresses that TMA does not take; null: there are none
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<Kernel>(p, c, opening);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const std::int64_t m = matmul_rows(args);
  if (m == 0) return Status::ok;
  if (k.fused.takes(args)) return k.fused.run(args, m);
  return k.plain ? k.plain->run(args, m) : Status::failed;
}

}  // namespace

Tactic cuda_norm_gemm_skinny_wgmma() {
  return packed_tactic({.name = "norm_gemm_skinny_wgmma", .ops = {"NormGemm"},
                        .cases = {"NormGemm f16[128,384] f16[384,1152]!", "NormGemm f16[128,768](2,4) f16[768,392]! epsilon=0.01",
                                  "NormGemm bf16[2,33,72] bf16[72,40]!", "NormGemm f16[65,1032] f16[1032,200]!",
                                  "NormGemm bf16[3,1096](-3,5) bf16[1096,64]!"}},
                       {supports, configs, valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run, work});
}

}  // namespace tenfold::backends
