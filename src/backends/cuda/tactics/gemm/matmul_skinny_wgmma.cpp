// matmul_skinny_wgmma: few rows times a constant matrix on Hopper's tensor cores, with any epilogue.
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/cuda/tactics/gemm/skinny_common.h"
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
  if (Verdict v = read_matmul(p, fused, F32::tf32); !v) return v;
  return skinny_fits(p, fused);
}
std::vector<Config> configs(const Problem& p) { return skinny_configs(p, read(p)); }
Verdict valid(const Problem& p, const Config& c) { return skinny_valid(p, read(p), c); }
double work(const Problem& p) { return gemm_work(read(p)); }

struct Kernel {
  Kernel(const Problem& p, const Config& c, Opening& opening) : fused(read(p), std::nullopt, c, p, opening) {
    if (p.may_be_misaligned()) plain = std::make_unique<const MmaKernel>(read(p), p, opening);
  }
  SkinnyKernel fused;
  std::unique_ptr<const MmaKernel> plain;  // for addresses that TMA does not take; null: there are none
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

Tactic cuda_matmul_skinny_wgmma() {
  return packed_tactic({.name = "matmul_skinny_wgmma", .version = 2, .ops = {"MatMul"},
                        .cases = {"MatMul f32[5,61,100] f32[100,136]! numerics={round_to=tf32}",
                                  "MatMul f32[128,768] f32[768,392]! numerics={round_to=tf32}",
                                  "MatMul f16[128,384] f16[384,1152]!",
                                  "MatMul bf16[2,33,72] bf16[72,40]!",
                                  "MatMul f16[65,1032] f16[1032,200]!"}},
                       {supports, configs, valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run, work});
}

}  // namespace tenfold::backends
