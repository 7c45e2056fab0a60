// Choosing tiles of few rows, and launching.
#include "backends/cuda/tactics/gemm/skinny_common.h"

#include <algorithm>

#include "backends/cuda/device/tensor_map.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

constexpr int kColumns[] = {64, 32, 128}, kSplits[] = {1, 2, 4, 8};
constexpr int kSharedBytes = 227 << 10;
constexpr int64_t kMaxRows = 768;

SkinnyTile tile_of(const Config& c, const GemmProblem& g, bool norm) {
  return {static_cast<int>(c[0]), static_cast<int>(c[1]), static_cast<int>(c[2]), g.depth(), norm};
}

int64_t row_tiles(int64_t rows, const SkinnyTile& t) { return round_up(ceil_div(rows, int64_t{64}), int64_t{t.pair}); }

// A guess in microseconds, fitted on an H200: what a block loads, beside others on its multiprocessor, in waves.
double guess(const SkinnyTile& t, const FusedGemm& fused, int processors) {
  const GemmProblem& g = fused.gemm;
  const double blocks = static_cast<double>(row_tiles(fused.rows, t) * ceil_div(g.n, int64_t{t.columns}) * t.split);
  const double at_once = std::min(4, kSharedBytes / t.shared_bytes(g.k));
  const double waves = std::ceil(blocks / (processors * at_once)), sharing = std::min(at_once, std::ceil(blocks / processors));
  const double block = 1.5 + 0.005 * t.columns + 0.085 * t.steps(g.k) * sharing * (64 + t.columns / t.pair) / 128;
  return waves * block + 0.3 * (sharing - 1) + (t.split > 1 ? 0.35 : 0) + (t.pair > 1 ? 0.1 : 0);
}

std::vector<Config> all_configs(const Problem& p, const FusedGemm& fused, bool norm) {
  const int processors = figures_of(*p.device).multiprocessors;
  std::vector<std::pair<double, Config>> all;
  for (int columns : kColumns)
    for (int split : kSplits)
      for (int pair : {1, 2}) {
        if (split * pair > 8 || (pair > 1 && fused.rows <= 64)) continue;
        const SkinnyTile tile = tile_of({columns, split, pair}, fused.gemm, norm);
        const bool whole_steps = ceil_div(fused.gemm.k, int64_t{tile.depth}) >= split;
        if (whole_steps && tile.shared_bytes(fused.gemm.k) <= kSharedBytes)
          all.push_back({guess(tile, fused, processors), {columns, split, pair}});
      }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Config> sorted;
  for (const auto& [us, config] : all) sorted.push_back(config);
  return sorted;
}

}  // namespace

Verdict skinny_fits(const Problem& p, const FusedGemm& fused, bool norm) {
  const GemmProblem& g = fused.gemm;
  if (p.device->arch != 90) return Verdict::no("wgmma needs sm_90");
  if (driver() && !driver()->tensor_map_tiled) return Verdict::no("the driver is older than CUDA 12: it describes no tensors for TMA");
  if (g.n % 8 != 0 || g.k % g.per_piece() != 0) return Verdict::no("rows do not begin at multiples of 16 bytes");
  if (fused.rows > kMaxRows) return Verdict::no("more than a few rows");
  return Verdict::only_if(!all_configs(p, fused, norm).empty(), "the matrix has too many rows to be in shared memory at once");
}

std::vector<Config> skinny_configs(const Problem& p, const FusedGemm& fused, bool norm) {
  constexpr std::size_t kMax = 6;  // each has to be compiled
  std::vector<Config> best = all_configs(p, fused, norm);
  if (best.size() > kMax) best.resize(kMax);
  return best;
}

Verdict skinny_valid(const Problem& p, const FusedGemm& fused, const Config& c, bool norm) {
  const std::vector<Config> all = all_configs(p, fused, norm);
  return Verdict::only_if(std::find(all.begin(), all.end(), c) != all.end(), "there is no such tile");
}

SkinnyKernel::SkinnyKernel(FusedGemm fused, std::optional<double> epsilon, const Config& c, const Problem& p, Opening& opening)
    : fused_(std::move(fused)), tile_(tile_of(c, fused_.gemm, epsilon.has_value())) {
  GemmProblem& g = fused_.gemm;
  g.body = fused_.epilogue.has_body ? &fused_.epilogue.body : nullptr;
  g.epilogue = fused_.epilogue.operands;
  module_ = device_of(*p.device).load(generate_gemm_skinny(g, tile_, epsilon.value_or(0)), opening);
  function_ = module_->function("gemm", tile_.shared_bytes(g.k));
}

Status::Code SkinnyKernel::run(const RunArgs& args, int64_t m) const noexcept {
  const GemmProblem& g = fused_.gemm;
  SkinnyArguments a{};
  a.y = args.out[0].data, a.m = m;
  if (tile_.norm) a.inverse = args.out[1].data, a.offset = args.out[2].data;
  place_epilogue(args, fused_.epilogue, a.epilogue);
  const bool to_tf32 = g.in == DType::f32;
  Status::Code code = describe<2>({g.in, args.in[0].data, {g.k, m}, {tile_.depth, 64}, {}, to_tf32}, a.a);
  const int own_columns = tile_.columns / tile_.pair;
  if (code == Status::ok) code = describe<2>({g.in, args.in[1].data, {g.k, g.n}, {tile_.depth, own_columns}, {}, to_tf32}, a.b);
  if (code != Status::ok) return code;
  const Grid grid{ceil_div(g.n, int64_t{tile_.columns}), row_tiles(m, tile_), tile_.split};
  return launch(queue_of(args), function_, grid, tile_.threads(), static_cast<unsigned>(tile_.shared_bytes(g.k)), &a, Start::early);
}

}  // namespace tenfold::backends::cuda
