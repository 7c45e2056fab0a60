// Choosing tiles, and launching.
#include "backends/cuda/tactics/gemm/mma_common.h"

#include <algorithm>

#include "backends/cuda/tactics/gemm/wgmma_common.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

// {rows, columns, warps down, warps across, stages}
constexpr int kTiles[][5] = {{16, 64, 1, 4, 6},   {16, 128, 1, 4, 5}, {32, 64, 1, 4, 6},  {64, 32, 4, 1, 6},  {32, 128, 1, 4, 4},
                             {64, 64, 2, 2, 4},   {64, 64, 2, 2, 6},  {128, 64, 4, 2, 4}, {64, 128, 2, 4, 4}, {128, 128, 2, 4, 4},
                             {128, 128, 2, 2, 3}, {256, 64, 4, 2, 3}, {128, 256, 2, 4, 3}, {128, 32, 4, 1, 4}};


GemmTile tile_of(const Config& c) {
  return {static_cast<int>(c[0]), static_cast<int>(c[1]), static_cast<int>(c[2]),
          static_cast<int>(c[3]), static_cast<int>(c[4]), static_cast<int>(c[5])};
}

// A guess in microseconds: tiles in waves over the multiprocessors, each limited by arithmetic or by loading. 1024 threads have the
// registers that this kernel wants.
double guess(const GpuFigures& gpu, const GemmTile& t, const GemmProblem& p, int64_t m, int64_t tiles) {
  const double blocks = static_cast<double>(cuda::blocks(p, t, m) * t.split);
  const double at_once =
      std::max(1.0, std::min({2.0, std::floor(200e3 * gpu.shared() / t.shared_bytes()), std::floor(1024.0 / t.threads())}));
  const double steps = std::ceil(static_cast<double>(tiles) / t.split);
  const double sharing = std::min(at_once, std::ceil(blocks / gpu.multiprocessors));
  const double arithmetic = sharing * t.rows * t.columns * 128.0 / (3.6e6 * gpu.mma_rate());
  const double loading = sharing * (t.rows + t.columns) * 128.0 / (90e3 * gpu.clock());
  const double step = std::max({arithmetic, loading, 0.6 / t.stages});
  return std::ceil(blocks / (gpu.multiprocessors * at_once)) * (steps * step + 1.0 + 0.2 * sharing) + (t.split > 1 ? 0.7 : 0);
}

}  // namespace

std::int64_t shared_limit(int arch) {
  switch (arch) {
    case 75: return 64 << 10;
    case 80:
    case 87: return 163 << 10;
    case 90:
    case 100: return 227 << 10;
    default: return 99 << 10;
  }
}

std::vector<Config> mma_configs(const Problem& p, const FusedGemm& fused) {
  const int64_t m = fused.rows, n = fused.gemm.n, tiles = ceil_div(fused.gemm.k, int64_t{fused.gemm.depth()});
  const GpuFigures& gpu = figures_of(*p.device);
  std::vector<std::pair<double, Config>> all;
  for (const auto& t : kTiles)
    for (int split : {1, 2, 4, 8}) {
      const int steps = static_cast<int>(std::min<int64_t>(tiles / split, 8));  // more stages would stay empty
      const GemmTile tile{t[0], t[1], t[2], t[3], p.device->arch >= 80 ? std::clamp(steps + 1, 2, t[4]) : 2, split};
      if (tile.shared_bytes() > shared_limit(p.device->arch) || tile.rows % split != 0) continue;
      if (split > 1 && (p.device->arch < 90 || tiles < 2 * split)) continue;
      if (tile.rows == 128 && tile.columns == 32 && n > 32) continue;  // for groups and phases of few columns
      if ((tile.rows > 16 && tile.rows >= 2 * m) || (tile.columns > 64 && tile.columns >= 2 * n)) continue;
      all.push_back({guess(gpu, tile, fused.gemm, m, tiles),
                     {tile.rows, tile.columns, tile.warps_down, tile.warps_across, tile.stages, split}});
    }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  all.erase(std::unique(all.begin(), all.end()), all.end());  // tiles that differed in stages only
  std::vector<Config> best;
  const bool for_wgmma = m * n > 64 * 64 * 2 * int64_t{gpu.multiprocessors} && wgmma_fits(p, fused);  // whose tiles then win
  const std::size_t max = for_wgmma ? 1 : 4;                              // each has to be compiled
  for (std::size_t i = 0; i < all.size() && i < max; ++i) best.push_back(all[i].second);
  if (best.empty()) best.push_back({16, 64, 1, 4, 2, 1});
  return best;
}

Verdict mma_valid(const Problem& p, const Config& c) {
  if (c.size() != 6) return Verdict::no("its configuration has another length");
  const auto known = std::find_if(std::begin(kTiles), std::end(kTiles),
                                  [&](const auto& t) { return t[0] == c[0] && t[1] == c[1] && t[2] == c[2] && t[3] == c[3]; });
  if (known == std::end(kTiles) || c[4] < 2 || c[4] > 8) return Verdict::no("there is no such tile");
  if (c[5] != 1 && c[5] != 2 && c[5] != 4 && c[5] != 8) return Verdict::no("there is no such split");
  if (c[5] > 1 && p.device->arch < 90) return Verdict::no("clusters need sm_90");
  return Verdict::only_if(tile_of(c).shared_bytes() <= shared_limit(p.device->arch), "the tile needs more shared memory than there is");
}

bool lie_aligned(const RunArgs& args, const Epilogue& epilogue) noexcept {
  const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  std::uintptr_t bits = address(args.in[0].data) | address(args.in[1].data) | address(args.out[0].data);
  for (std::size_t o = 0; o < epilogue.inputs.size(); ++o)
    if (epilogue.operands[o].kind == EpilogueKind::whole || epilogue.operands[o].kind == EpilogueKind::column)
      bits |= address(args.in[static_cast<std::size_t>(epilogue.inputs[o])].data);
  return bits % 16 == 0;
}

void place_epilogue(const RunArgs& args, const Epilogue& epilogue, const void* (&to)[kMaxEpilogueOperands]) noexcept {
  for (std::size_t o = 0; o < epilogue.inputs.size(); ++o)
    to[o] = static_cast<const char*>(args.in[static_cast<std::size_t>(epilogue.inputs[o])].data) + epilogue.operands[o].offset;
}

MmaKernel::MmaKernel(FusedGemm fused, const GemmTile& tile, Device& device)
    : gemm_(std::move(fused.gemm)), epilogue_(std::move(fused.epilogue)), tile_(tile), device_(device) {
  gemm_.body = epilogue_.has_body ? &epilogue_.body : nullptr;
  gemm_.epilogue = epilogue_.operands;
}

MmaKernel::MmaKernel(FusedGemm fused, const Problem& p, Opening& opening)
    : MmaKernel(std::move(fused), GemmTile{16, 64, 1, 4, 2, 1}, device_of(*p.device)) {
  singles_ = load(false, opening);
}

MmaKernel::MmaKernel(FusedGemm fused, const Config& c, const Problem& p, Opening& opening)
    : MmaKernel(std::move(fused), tile_of(c), device_of(*p.device)) {
  const int piece = gemm_.per_piece();
  const bool rows_align =
      gemm_.width() % 8 == 0 && (gemm_.groups == 1 || gemm_.n % 8 == 0) && gemm_.row_pitch() % 8 == 0 && gemm_.k % piece == 0 &&
      (!gemm_.is_conv || gemm_.channels % piece == 0);
  if (rows_align) vectors_ = load(true, opening);
  if (!rows_align || p.may_be_misaligned()) singles_ = load(false, opening);
}

MmaKernel::Loaded MmaKernel::load(bool vectors, Opening& opening) const {
  GemmProblem gemm = gemm_;
  gemm.vectors = vectors;
  Loaded loaded;
  loaded.module = device_.load(generate_gemm(gemm, tile_), opening);
  loaded.function = loaded.module->function("gemm", tile_.shared_bytes());
  return loaded;
}

Status::Code MmaKernel::run(const RunArgs& args, int64_t m) const noexcept {
  GemmArguments a{args.in[0].data, args.in[1].data, args.out[0].data, {}, m};
  place_epilogue(args, epilogue_, a.epilogue);
  const Loaded& loaded = vectors_.module && lie_aligned(args, epilogue_) ? vectors_ : singles_;
  if (!loaded.module) return Status::failed;
  const Grid grid{blocks(gemm_, tile_, m), 1, tile_.split};
  return launch(queue_of(args), loaded.function, grid, static_cast<unsigned>(tile_.threads()), static_cast<unsigned>(tile_.shared_bytes()),
                &a, Start::early);
}

}  // namespace tenfold::backends::cuda
