// matmul_block_scaled_few: few rows times a constant matrix of 4 or 8 bits with a scale for each block of a column, on tensor cores, at the
// rate at which the matrix is read; with any epilogue. NormMatMulBlockScaled: rows are normalized on the way.
#include "backends/cuda/tactics/gemm/block_scaled_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int64_t kMaxRows = 64;   // more read the matrix too often
constexpr int kRoomBytes = 48 << 10;

FewRowsTile tile_of(const Config& c) { return {static_cast<int>(c[0]), static_cast<int>(c[1]), static_cast<int>(c[2])}; }

Verdict supports(const Problem& p) {
  BlockScaled read;
  if (Verdict v = supports_block_scaled_mma(p, read); !v) return v;
  return Verdict::only_if(read.rows <= kMaxRows, "more than a few rows");
}

// {eights of rows, panels of 16 columns, warps}. Blocks with more columns read the rows less often; those with fewer are more, where the
// matrix is narrow.
std::vector<Config> configs(const Problem& p) {
  const BlockScaled read = block_scaled_of(p);
  const int64_t row_tiles = read.rows <= 8 ? 1 : 2, processors = figures_of(*p.device).multiprocessors;
  std::vector<Config> all;
  for (const int64_t panels : {2, 1, 4})
    for (const int64_t warps : {8, 4, 16}) {
      const Config c{row_tiles, panels, warps};
      const bool idle = warps > 4 && read.problem.tiles() < warps, narrow = panels > 1 && read.problem.panels() < panels * processors;
      if (!idle && !narrow && tile_of(c).room_bytes() <= kRoomBytes && (panels != 4 || warps == 8)) all.push_back(c);
    }
  if (all.size() > 4) all.resize(4);   // each has to be compiled
  return all;
}

Verdict valid(const Problem&, const Config& c) {
  if (c.size() != 3 || (c[0] != 1 && c[0] != 2)) return Verdict::no("there is no such number of rows");
  if (c[1] != 1 && c[1] != 2 && c[1] != 4) return Verdict::no("there is no such number of columns");
  if (c[2] != 4 && c[2] != 8 && c[2] != 16) return Verdict::no("there is no such number of warps");
  return Verdict::only_if(tile_of(c).room_bytes() <= kRoomBytes, "the tile needs more shared memory than there is");
}

struct Kernel {
  BlockScaled read;
  FewRowsTile tile;
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->read = block_scaled_of(p), k->tile = tile_of(c);
  k->module = device_of(*p.device).load(generate_block_scaled_few(k->read.complete(), k->tile), opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const BlockScaledArguments a = block_scaled_arguments(args, k.read);
  const auto place = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const bool vectors = (place(a.x) | place(a.norm)) % 16 == 0 && k.read.problem.gemm.k % 4 == 0;
  const Grid grid{ceil_div(k.read.problem.panels(), int64_t{k.tile.panels}), ceil_div(a.m, int64_t{8 * k.tile.row_tiles})};
  return launch(queue_of(args), vectors ? k.vectors : k.singles, grid, 32u * static_cast<unsigned>(k.tile.warps), 0, &a, Start::early);
}

}  // namespace

Tactic cuda_matmul_block_scaled_few() {
  return packed_tactic(
      {.name = "matmul_block_scaled_few", .ops = {"MatMulBlockScaled", {"NormMatMulBlockScaled", "norm_matmul_block_scaled_few"}},
       .cases = {"MatMulBlockScaled f16[1,4096] i4[4096,250]! f32[32,250](0.01,0.05)! block_size=128",
                 "MatMulBlockScaled f16[5,210] u4[210,70]! f32[7,70](0.01,0.05)! u4[7,70]! block_size=32",
                 "MatMulBlockScaled bf16[2,6,101] i4[101,37]! f32[1,37](0.01,0.05)! i4[1,37]! block_size=101",
                 "MatMulBlockScaled bf16[1,1,640] u8[640,2100]! f32[5,2100](0.01,0.05)! u8[5,2100]! block_size=128",
                 "MatMulBlockScaled f16[16,256] i8[256,48]! f32[16,48](0.01,0.05)! block_size=16",
                 "MatMulBlockScaled f32[3,500] i4[500,133]! f32[11,133](0.01,0.05)! block_size=48 numerics={round_to=tf32}",
                 "NormMatMulBlockScaled f16[1,1,2048] i4[2048,250]! f32[16,250](0.01,0.05)! _ f16[2048]! block_size=128",
                 "NormMatMulBlockScaled bf16[3,101] u8[101,70]! f32[4,70](0.01,0.05)! u8[4,70]! f32[101]! block_size=32",
                 "NormMatMulBlockScaled f32[9,100] i8[100,36]! f32[2,36](0.01,0.05)! _ f32[100]! block_size=64 numerics={round_to=tf32}",
                 "MatMulBlockScaled f32[9,100] i8[100,36]! f32[2,36](0.01,0.05)! block_size=64 numerics={round_to=tf32}"}},
      {supports, configs, valid, block_scaled_bytes, block_scaled_pack, block_scaled_unpack, open, run, block_scaled_work});
}

}  // namespace tenfold::backends
