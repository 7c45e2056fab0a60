// matmul_skinny_wgmma: few rows times a constant matrix on Hopper's tensor cores, with any epilogue; configurations are the columns of a
// block and the blocks of a cluster that share a sum.
#include <algorithm>

#include "backends/cuda/codegen/gemm/gemm_skinny.h"
#include "backends/cuda/device/tensor_map.h"
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kColumns[] = {64, 32, 128}, kSplits[] = {1, 2, 4, 8};
constexpr int kSharedBytes = 227 << 10;
constexpr int64_t kMaxRows = 768;

FusedGemm read(const Problem& p) {
  FusedGemm fused;
  read_matmul(p, fused, F32::tf32);
  return fused;
}

// A guess in microseconds, fitted on an H200: what a block loads, in waves of as many blocks as shared memory lets in.
double guess(const SkinnyTile& t, const FusedGemm& fused, int processors) {
  const GemmProblem& g = fused.gemm;
  const double blocks = static_cast<double>(ceil_div(fused.rows, int64_t{64}) * ceil_div(g.n, int64_t{t.columns}) * t.split);
  const double at_once = std::min(4, kSharedBytes / t.shared_bytes(g.k));
  const double waves = std::ceil(blocks / (processors * at_once));
  return waves * (1.5 + t.steps(g.k) * 0.1 * at_once * (64 + t.columns) / 128) + (t.split > 1 ? 0.4 : 0);
}

std::vector<Config> all_configs(const Problem& p, const FusedGemm& fused) {
  const int processors = figures_of(*p.device).multiprocessors;
  std::vector<std::pair<double, Config>> all;
  for (int columns : kColumns)
    for (int split : kSplits) {
      const SkinnyTile tile{columns, split, fused.gemm.depth()};
      const bool whole_steps = ceil_div(fused.gemm.k, int64_t{tile.depth}) >= split;
      if (whole_steps && tile.shared_bytes(fused.gemm.k) <= kSharedBytes)
        all.push_back({guess(tile, fused, processors), {columns, split}});
    }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Config> sorted;
  for (const auto& [us, config] : all) sorted.push_back(config);
  return sorted;
}

Verdict supports(const Problem& p) {
  FusedGemm fused;
  if (Verdict v = read_matmul(p, fused, F32::tf32); !v) return v;
  const GemmProblem& g = fused.gemm;
  if (p.device->arch != 90) return Verdict::no("wgmma needs sm_90");
  if (driver() && !driver()->tensor_map_tiled) return Verdict::no("the driver is older than CUDA 12: it describes no tensors for TMA");
  if (g.n % 8 != 0 || g.k % g.per_piece() != 0) return Verdict::no("rows do not begin at multiples of 16 bytes");
  if (fused.rows > kMaxRows) return Verdict::no("more than a few rows");
  return Verdict::only_if(!all_configs(p, fused).empty(), "the matrix has too many rows to be in shared memory at once");
}

std::vector<Config> configs(const Problem& p) {
  constexpr std::size_t kMax = 4;  // each has to be compiled
  std::vector<Config> best = all_configs(p, read(p));
  if (best.size() > kMax) best.resize(kMax);
  return best;
}
Verdict valid(const Problem& p, const Config& c) {
  const std::vector<Config> all = all_configs(p, read(p));
  return Verdict::only_if(std::find(all.begin(), all.end(), c) != all.end(), "there is no such tile");
}

struct Kernel {
  FusedGemm fused;
  SkinnyTile tile;
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  std::unique_ptr<const MmaKernel> plain;  // for addresses that TMA does not take; null: there are none
  Kernel(FusedGemm given, const Config& c, const Problem& p, Opening& opening)
      : fused(std::move(given)), tile{static_cast<int>(c[0]), static_cast<int>(c[1]), fused.gemm.depth()} {
    if (p.may_be_misaligned()) plain = std::make_unique<const MmaKernel>(fused, p, opening);
    GemmProblem& g = fused.gemm;
    g.body = fused.epilogue.has_body ? &fused.epilogue.body : nullptr;
    g.epilogue = fused.epilogue.operands;
    module = device_of(*p.device).load(generate_gemm_skinny(g, tile), opening);
    function = module->function("gemm", tile.shared_bytes(g.k));
  }
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<Kernel>(read(p), c, p, opening);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const GemmProblem& g = k.fused.gemm;
  SkinnyArguments a{};
  a.y = args.out[0].data, a.m = matmul_rows(args);
  if (a.m == 0) return Status::ok;
  const auto address = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  std::uintptr_t bits = address(args.in[0].data) | address(args.in[1].data) | address(a.y);
  for (std::size_t o = 0; o < k.fused.epilogue.inputs.size(); ++o) {
    a.epilogue[o] = args.in[static_cast<std::size_t>(k.fused.epilogue.inputs[o])].data;
    if (k.fused.epilogue.operands[o].kind != EpilogueKind::single) bits |= address(a.epilogue[o]);
  }
  if (bits % 16 != 0) return k.plain ? k.plain->run(args, a.m) : Status::failed;
  const bool to_tf32 = g.in == DType::f32;
  Status::Code code = describe<2>({g.in, args.in[0].data, {g.k, a.m}, {k.tile.depth, 64}, {}, to_tf32}, a.a);
  if (code == Status::ok) code = describe<2>({g.in, args.in[1].data, {g.k, g.n}, {k.tile.depth, k.tile.columns}, {}, to_tf32}, a.b);
  if (code != Status::ok) return code;
  const Grid grid{ceil_div(g.n, int64_t{k.tile.columns}), ceil_div(a.m, int64_t{64}), k.tile.split};
  return launch(queue_of(args), k.function, grid, kFewThreads, static_cast<unsigned>(k.tile.shared_bytes(g.k)), &a, Start::early);
}

double work(const Problem& p) { return gemm_work(read(p)); }

}  // namespace

Tactic cuda_matmul_skinny_wgmma() {
  return packed_tactic({.name = "matmul_skinny_wgmma", .ops = {"MatMul"},
                        .cases = {"MatMul f32[5,61,100] f32[100,136]! numerics={round_to=tf32}",
                                  "MatMul f32[128,768] f32[768,392]! numerics={round_to=tf32}",
                                  "MatMul f16[128,384] f16[384,1152]!",
                                  "MatMul bf16[2,33,72] bf16[72,40]!",
                                  "MatMul f16[65,1032] f16[1032,200]!"}},
                       {supports, configs, valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run, work});
}

}  // namespace tenfold::backends
