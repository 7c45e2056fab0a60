// matmul_gemv: few rows times a constant matrix, with any epilogue; the configuration is the rows of a block.
#include "backends/cuda/codegen/gemm/gemv.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/cuda/tactics/gemm/gemm_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

FusedGemm read(const Problem& p) {
  FusedGemm fused;
  read_matmul(p, fused, F32::exact);
  return fused;
}

Verdict supports(const Problem& p) {
  FusedGemm fused;
  if (Verdict v = read_matmul(p, fused, F32::exact); !v) return v;
  return Verdict::only_if(fused.rows <= kMaxGemvRows, "more than a few rows");
}

std::vector<Config> configs(const Problem& p) {
  int64_t rows = 1;
  while (rows < read(p).rows) rows *= 2;
  return {{rows}};
}
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 1 && (c[0] == 1 || c[0] == 2 || c[0] == 4 || c[0] == 8), "there is no such number of rows");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  std::vector<int> epilogue;
  int64_t rows = 1, columns = 1;
  int warps = 1;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  const FusedGemm fused = read(p);
  GemmProblem gemm = fused.gemm;
  gemm.body = fused.epilogue.has_body ? &fused.epilogue.body : nullptr, gemm.epilogue = fused.epilogue.operands;
  auto k = std::make_shared<Kernel>();
  k->module = device_of(*p.device).load(generate_gemv(gemm, static_cast<int>(c[0])), opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  k->epilogue = fused.epilogue.inputs, k->rows = c[0], k->columns = gemm.n, k->warps = gemv_warps(gemm, static_cast<int>(c[0]));
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  GemvArguments a{args.in[0].data, args.in[1].data, args.out[0].data, {}, matmul_rows(args)};
  for (std::size_t o = 0; o < k.epilogue.size(); ++o) a.epilogue[o] = args.in[static_cast<std::size_t>(k.epilogue[o])].data;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(a.a) | reinterpret_cast<std::uintptr_t>(a.b)) % 16 == 0;
  const Grid grid{ceil_div(k.columns, int64_t{k.warps}), ceil_div(a.m, k.rows)};
  return launch(queue_of(args), aligned ? k.vectors : k.singles, grid, 32u * static_cast<unsigned>(k.warps), 0, &a, Start::early);
}

double work(const Problem& p) { return gemm_work(read(p)); }

}  // namespace

Tactic cuda_matmul_gemv() {
  return packed_tactic({.name = "matmul_gemv", .ops = {"MatMul"},
                        .cases = {"MatMul f16[1,256] f16[256,250]!",
                                  "MatMul f16[2,3,2056] f16[2056,100]!",
                                  "MatMul f32[3,101] f32[101,37]!",
                                  "MatMul bf16[7,100] bf16[100,36]!",
                                  "MatMul bf16[2,100] bf16[100,75]!"}},
                       {supports, configs, valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run, work});
}

}  // namespace tenfold::backends
