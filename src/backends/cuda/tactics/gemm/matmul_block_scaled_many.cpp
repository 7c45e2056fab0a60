// matmul_block_scaled_many: many rows times a constant matrix of 4 or 8 bits with a scale for each block of a column, on tensor cores, with
// any epilogue.
#include <algorithm>
#include <cmath>

#include "backends/cuda/tactics/gemm/block_scaled_common.h"
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

// {eights of rows of a block, panels of 16 columns of a warp, warps, stages}
constexpr int kTiles[][4] = {{8, 2, 4, 4}, {8, 2, 8, 3}, {8, 1, 8, 4}, {4, 2, 4, 4}, {8, 1, 4, 4}, {2, 1, 8, 4}};
ManyRowsTile tile_of(const Config& c) {
  return {static_cast<int>(c[0]), static_cast<int>(c[1]), static_cast<int>(c[2]), static_cast<int>(c[3])};
}

Verdict supports(const Problem& p) {
  BlockScaled read;
  if (Verdict v = supports_block_scaled_mma(p, read); !v) return v;
  return Verdict::only_if(read.rows > 8, "too few rows");
}

int64_t blocks(const BlockScaledProblem& p, const ManyRowsTile& t, int64_t rows) {
  return ceil_div(p.panels(), int64_t{t.panels * t.warps}) * ceil_div(rows, int64_t{8 * t.row_tiles});
}

// Waves over the multiprocessors, times what a block multiplies; small tiles make numbers of the weights for few rows.
std::vector<Config> configs(const Problem& p) {
  const BlockScaled read = block_scaled_of(p);
  const int processors = figures_of(*p.device).multiprocessors;
  std::vector<std::pair<double, Config>> all;
  for (const auto& t : kTiles) {
    if (t[1] > 1 && p.in[0].dtype == DType::f32) continue;   // whose terms want the registers
    ManyRowsTile tile{t[0], t[1], t[2], t[3]};
    while (tile.stages > 2 && tile.shared_bytes(read.problem) > shared_limit(p.device->arch)) --tile.stages;
    if (tile.shared_bytes(read.problem) > shared_limit(p.device->arch)) continue;
    const double waves = std::ceil(static_cast<double>(blocks(read.problem, tile, read.rows)) / processors);
    const double work = tile.panels * tile.warps * (tile.row_tiles + 2.0);
    all.push_back({waves * work, {tile.row_tiles, tile.panels, tile.warps, tile.stages}});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Config> best;
  for (std::size_t i = 0; i < all.size() && i < 3; ++i) best.push_back(all[i].second);   // each has to be compiled
  return best;
}

Verdict valid(const Problem& p, const Config& c) {
  const auto known = [&](const auto& t) { return c[0] == t[0] && c[1] == t[1] && c[2] == t[2]; };
  if (c.size() != 4 || std::none_of(std::begin(kTiles), std::end(kTiles), known) || c[3] < 2 || c[3] > 4)
    return Verdict::no("there is no such tile");
  return Verdict::only_if(tile_of(c).shared_bytes(block_scaled_of(p).problem) <= shared_limit(p.device->arch),
                          "the tile needs more shared memory than there is");
}

struct Kernel {
  BlockScaled read;
  ManyRowsTile tile;
  int shared_bytes = 0;
  std::shared_ptr<const LoadedModule> modules[2];
  Function vectors = nullptr, singles = nullptr;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->read = block_scaled_of(p), k->tile = tile_of(c);
  BlockScaledProblem problem = k->read.complete();
  k->shared_bytes = k->tile.shared_bytes(problem);
  const auto load = [&](bool vectors) {
    problem.gemm.vectors = vectors;
    k->modules[vectors] = device_of(*p.device).load(generate_block_scaled_many(problem, k->tile), opening);
    return k->modules[vectors]->function("many", k->shared_bytes);
  };
  const bool rows_align = problem.gemm.n % 8 == 0 && problem.gemm.k % 8 == 0;
  if (rows_align) k->vectors = load(true);
  if (!rows_align || p.may_be_misaligned()) k->singles = load(false);
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const BlockScaledArguments a = block_scaled_arguments(args, k.read);
  const Function function = k.vectors && lie_aligned(args, k.read.epilogue) ? k.vectors : k.singles;
  if (!function) return Status::failed;
  return launch(queue_of(args), function, {blocks(k.read.problem, k.tile, a.m)}, 32u * static_cast<unsigned>(k.tile.warps),
                static_cast<unsigned>(k.shared_bytes), &a, Start::early);
}

}  // namespace

Tactic cuda_matmul_block_scaled_many() {
  return packed_tactic(
      {.name = "matmul_block_scaled_many", .ops = {"MatMulBlockScaled"},
       .cases = {"MatMulBlockScaled f16[200,512] i4[512,264]! f32[4,264](0.01,0.05)! block_size=128",
                 "MatMulBlockScaled f16[70,210] u4[210,70]! f32[7,70](0.01,0.05)! u4[7,70]! block_size=32",
                 "MatMulBlockScaled bf16[2,65,101] i4[101,37]! f32[1,37](0.01,0.05)! i4[1,37]! block_size=101",
                 "MatMulBlockScaled bf16[33,640] u8[640,200]! f32[5,200](0.01,0.05)! u8[5,200]! block_size=128",
                 "MatMulBlockScaled f16[12,256] i8[256,48]! f32[16,48](0.01,0.05)! block_size=16",
                 "MatMulBlockScaled f32[100,500] i4[500,133]! f32[11,133](0.01,0.05)! block_size=48 numerics={round_to=tf32}",
                 "MatMulBlockScaled f32[90,104] i8[104,40]! f32[2,40](0.01,0.05)! block_size=64 numerics={round_to=tf32}"}},
      {supports, configs, valid, block_scaled_bytes, block_scaled_pack, block_scaled_unpack, open, run, block_scaled_work});
}

}  // namespace tenfold::backends
