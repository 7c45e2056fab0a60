// gemm_row_stats_wgmma: the kernel of matmul_wgmma, whose tiles also tell sum and squares of the part of each row that they hold, and a
// small one that joins these parts.
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/cuda/tactics/gemm/gemm_row_stats_common.h"
#include "backends/cuda/tactics/gemm/wgmma_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

FusedGemm read(const Problem& p) {
  FusedGemm fused;
  read_gemm_row_stats(p, fused);
  fused.gemm.moments = true;
  return fused;
}
Verdict supports(const Problem& p) {
  FusedGemm fused;
  if (Verdict v = read_gemm_row_stats(p, fused); !v) return v;
  fused.gemm.moments = true;
  if (Verdict v = wgmma_fits(p, fused); !v) return v;
  return Verdict::only_if(!wgmma_configs(p, fused).empty(), "rows are no whole number of tiles");
}
std::vector<Config> configs(const Problem& p) { return wgmma_configs(p, read(p)); }
Verdict valid(const Problem& p, const Config& c) {
  if (Verdict v = wgmma_valid(p, c); !v) return v;
  return Verdict::only_if(p.in[1].dims[1].constant() % c[1] == 0, "rows are no whole number of tiles");
}
ir::Dim workspace(const Problem& p, const Config& c) {
  const ir::Dims& x = p.in[0].dims;
  return ir::product(std::span(x).first(x.size() - 1)) * ir::Dim(p.in[1].dims[1].constant() / c[1] * 8);
}
double work(const Problem& p) { return gemm_work(read(p)); }

struct Kernel {
  Kernel(const Problem& p, const Config& c, Opening& opening)
      : fused(read(p), c, p, opening), moments(p, fused.gemm(), fused.tile().columns, opening) {}
  WgmmaKernel fused;
  MomentsKernel moments;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<Kernel>(p, c, opening);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const std::int64_t m = matmul_rows(args);
  if (m == 0) return Status::ok;
  if (const Status::Code code = k.fused.run(args, m, args.workspace); code != Status::ok) return code;
  return k.moments.run(args, m, k.fused.takes(args, m) ? args.workspace : nullptr, k.fused.start(m));
}

}  // namespace

Tactic cuda_gemm_row_stats_wgmma() {
  return packed_tactic({.name = "gemm_row_stats_wgmma", .ops = {"GemmRowStats"}, .workspace = workspace},
                       {supports, configs, valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run, work});
}

}  // namespace tenfold::backends
