// Choosing tiles, and launching.
#include "backends/cuda/tactics/gemm/wgmma_common.h"

#include <algorithm>

#include "backends/cuda/device/tensor_map.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

// {blocks of 64 rows, columns, groups, alternate}
constexpr int kTiles[][4] = {{2, 128, 2, 1}, {2, 192, 2, 1}, {2, 96, 2, 1},  {2, 64, 2, 1},  {1, 128, 2, 1}, {1, 96, 2, 1}, {1, 64, 2, 1},
                             {4, 64, 2, 1},  {1, 256, 2, 0}, {2, 128, 2, 0}, {1, 192, 2, 0}, {1, 128, 3, 0}, {1, 96, 2, 0}, {1, 64, 3, 0},
                             {1, 192, 3, 0}};
constexpr int kSharedBytes = 227 << 10, kMaxSlots = 4;
constexpr int64_t kMaxRows = int64_t{1} << 30;  // TMA counts in 32 bits

// As deep a pipeline as fits. What is staged comes one strip ahead of what is computed, or, where room is left, with the tile.
WgmmaTile tile_of(const int (&t)[4], const GemmProblem& p, bool staged) {
  WgmmaTile tile{t[0], t[1], t[2], t[3] != 0, 8, 2, bits(p.out) / 8, 128};
  while (tile.shared_bytes() > kSharedBytes && tile.stages > 4) --tile.stages;
  if (tile.shared_bytes() > kSharedBytes && !staged) tile.slots = 1;
  while (tile.shared_bytes() > kSharedBytes) --tile.stages;
  while (tile.slots < std::min(tile.columns / tile.strip(), kMaxSlots)) {
    ++tile.slots;
    if (tile.shared_bytes() <= kSharedBytes) continue;
    --tile.slots;
    break;
  }
  return tile;
}
WgmmaTile tile_of(const Config& c, DType out) {
  const auto at = [&](std::size_t i) { return static_cast<int>(c[i]); };
  return {at(0), at(1), at(2), c[3] != 0, at(4), at(5), bits(out) / 8, 128};
}
// With the problem's rows: of half the size twice as many stages.
WgmmaTile with_rows_of(const GemmProblem& p, WgmmaTile tile) {
  if (p.row_bytes() == tile.row_bytes) return tile;
  tile.row_bytes = p.row_bytes(), tile.stages *= 2;
  while (tile.shared_bytes() > kSharedBytes) --tile.stages;
  return tile;
}

// A guess in microseconds, its constants fitted to 430 times of kernels measured on an H200: tiles in waves over the
// multiprocessors, each limited by arithmetic or by loading; results cost time of their own unless groups alternate. The memory's speed
// stays an H200's: it bounds all tiles alike.
double guess(const GpuFigures& gpu, const WgmmaTile& t, const GemmProblem& p, bool staged, int64_t m) {
  const double clock = 1900 * gpu.clock();
  const double rows = t.rows(), columns = t.columns,
               depth = static_cast<double>(p.is_conv ? ceil_div(p.channels, int64_t{p.row_depth()}) * (p.k / p.channels)
                                                     : ceil_div(p.k, int64_t{p.row_depth()})) *
                       p.row_bytes() / 128;   // steps of 128 bytes
  const auto tiles = static_cast<double>(ceil_div(m, int64_t{t.rows()}) * ceil_div(p.n, int64_t{t.columns}));
  const double waves = std::ceil(tiles / gpu.multiprocessors);
  const double products = depth * std::max(rows * columns * 64 / 2000, (rows + columns) * 128 / 71) / clock;
  const double results = rows * columns * (125 + (staged ? 7 : 0)) * 1e-6;
  double total = waves * (products + 0.55 * results);
  if (t.alternate) {
    const double tile = std::max({products, waves > 1 ? results / 2 : 0, (products + results) / 2});
    total = waves * tile + results;
  }
  const double images = p.is_conv ? static_cast<double>(m) / static_cast<double>(p.out_extent[0] * p.out_extent[1] * p.out_extent[2]) : 0;
  const double elements = p.is_conv ? images * static_cast<double>(p.in_extent[0] * p.in_extent[1] * p.in_extent[2] * p.channels)
                                    : static_cast<double>(m * p.k);
  const double bytes_in = (elements + static_cast<double>(p.n * p.k)) * bits(p.in) / 8,
               bytes_out = static_cast<double>(m * p.n * (staged ? 2 : 1)) * bits(p.out) / 8, memory = (bytes_in + bytes_out) / 3.85e6;
  return std::max(total + 0.5, memory) + 2.7;
}

bool has_8_bits(DType t) { return t == DType::u8 || t == DType::i8 || t == DType::f8e4m3fn; }

// Whether some window reaches beyond its image.
bool has_pads(const GemmProblem& g) {
  for (std::size_t d = 0; g.is_conv && d < 3; ++d) {
    const int64_t last = (g.out_extent[d] - 1) * g.stride[d] - g.begin[d] + (g.kernel[d] - 1) * g.dilation[d];
    if (g.begin[d] > 0 || last >= g.in_extent[d]) return true;
  }
  return false;
}

}  // namespace

Verdict wgmma_fits(const Problem& p, const FusedGemm& fused) {
  constexpr int64_t kFewRows = 128, kFewResults = 64 * 64 * 33;  // tiles for a quarter of an H200
  const GemmProblem& g = fused.gemm;
  if (p.device->arch != 90) return Verdict::no("wgmma needs sm_90");
  if (driver() && !driver()->tensor_map_im2col) return Verdict::no("the driver is older than CUDA 12: it describes no tensors for TMA");
  if (g.out != g.in && !(bits(g.in) == 8 && bits(g.out) <= 32) && !has_8_bits(g.out)) return Verdict::no("the result has another type");
  if (g.spreads || g.has_phases()) return Verdict::no("a row of the GEMM is not contiguous in the result");
  if (g.groups > 1) return Verdict::no("channels are in groups");
  if (g.zero_point >= 0 && has_pads(g)) return Verdict::no("TMA pads with nought, not with the zero point");
  const auto aligned = [](int64_t elements, DType type) { return elements * bits(type) % 128 == 0; };
  if (!aligned(g.row_pitch(), g.out) || !aligned(g.n, g.out) || g.n % 8 != 0 || !aligned(g.k, g.in) || !aligned(g.channels, g.in))
    return Verdict::no("rows do not begin at multiples of 16 bytes");
  if (fused.rows < kFewRows || fused.rows * g.n < kFewResults)
    return Verdict::no("so few results that sums should be split: matmul_mma and conv_mma do that");
  if (p.bounds(ir::product(p.out[0].dims)).upper / g.n > kMaxRows) return Verdict::no("more rows than TMA counts");
  if (g.is_conv && !can_describe_images(g)) return Verdict::no("TMA does not describe such pads, strides or taps");
  return Verdict::ok();
}

std::vector<Config> wgmma_configs(const Problem& p, const FusedGemm& fused) {
  GemmProblem g = fused.gemm;
  g.epilogue = fused.epilogue.operands;
  const bool staged = staged_operand(g) >= 0;
  const GpuFigures& gpu = figures_of(*p.device);
  std::vector<std::pair<double, Config>> all;
  for (const auto& t : kTiles) {
    const WgmmaTile tile = tile_of(t, g, staged);
    if (tile.columns > 64 && tile.columns >= 2 * g.n) continue;
    if (g.moments && g.n % tile.columns != 0) continue;  // each part of a row counts the same
    all.push_back({guess(gpu, tile, g, staged, fused.rows), {t[0], t[1], t[2], t[3], tile.stages, tile.slots}});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  // Each has to be compiled. In 16 bits the best of all, or one within 2 %, was among three for each of 27 shapes; in 8 it was the fifth.
  const std::size_t max = bits(g.in) == 8 ? 6 : 4;
  std::vector<Config> best;
  for (std::size_t i = 0; i < std::min(max, all.size()); ++i) best.push_back(all[i].second);
  return best;
}

Verdict wgmma_valid(const Problem& p, const Config& c) {
  if (c.size() != 6) return Verdict::no("its configuration has another length");
  const auto known = [&](const auto& t) { return std::equal(std::begin(t), std::end(t), c.begin()); };
  if (std::none_of(std::begin(kTiles), std::end(kTiles), known) || c[4] < 2 || c[4] > 8 || c[5] < 1 || c[5] > kMaxSlots)
    return Verdict::no("there is no such tile");
  return Verdict::only_if(tile_of(c, p.out[0].dtype).shared_bytes() <= kSharedBytes, "the tile needs more shared memory than there is");
}

WgmmaKernel::WgmmaKernel(FusedGemm fused, const Config& c, const Problem& p, Opening& opening)
    : fused_(std::move(fused)), tile_(with_rows_of(fused_.gemm, tile_of(c, fused_.gemm.out))) {
  if (p.may_be_misaligned()) plain_ = std::make_unique<const MmaKernel>(fused_, p, opening);
  GemmProblem& g = fused_.gemm;
  g.body = fused_.epilogue.has_body ? &fused_.epilogue.body : nullptr;
  g.epilogue = fused_.epilogue.operands;
  staged_ = staged_operand(g);
  Device& gpu = device_of(*p.device);
  processors_ = gpu.multiprocessors();
  module_ = gpu.load(generate_wgmma(g, tile_), opening);
  function_ = module_->function("gemm", tile_.shared_bytes());
}

Status::Code WgmmaKernel::describe_operands(const RunArgs& args, int64_t m, WgmmaArguments& a) const noexcept {
  const GemmProblem& g = fused_.gemm;
  const int rows = tile_.rows(), columns = tile_.columns, depth = g.row_depth();
  const bool to_tf32 = g.in == DType::f32;
  Status::Code code;
  if (g.is_conv) {
    code = describe_images(g, args.in[0].data, args.in[0].dims[0], rows, a.a);
    const std::array<int, 3> box{depth, 1, columns};
    if (code == Status::ok) code = describe<3>({g.weight, args.in[1].data, {g.channels, g.k / g.channels, g.n}, box, {}, to_tf32}, a.b);
  } else {
    code = describe<2>({g.in, args.in[0].data, {g.k, m}, {depth, rows}, {}, to_tf32}, a.a);
    if (code == Status::ok) code = describe<2>({g.weight, args.in[1].data, {g.k, g.n}, {depth, columns}, {}, to_tf32}, a.b);
  }
  const std::array<int, 2> strip{tile_.strip(), 64 * tile_.blocks};
  if (code == Status::ok) code = describe<2>({g.out, args.out[0].data, {g.n, m}, strip, {g.row_pitch()}}, a.y);
  if (code == Status::ok && staged_ >= 0) code = describe<2>({g.out, a.epilogue[staged_], {g.n, m}, strip}, a.r);
  return code;
}

Start WgmmaKernel::start(int64_t m) const noexcept {
  const GemmProblem& g = fused_.gemm;
  if (g.is_conv) return Start::early;  // where this was not measured
  return start_for(m * g.k * bits(g.in) / 8 + m * g.n * (staged_ >= 0 ? 2 : 1) * bits(g.out) / 8);
}

bool WgmmaKernel::takes(const RunArgs& args, int64_t m) const noexcept { return lie_aligned(args, fused_.epilogue) && m <= kMaxRows; }

Status::Code WgmmaKernel::run(const RunArgs& args, int64_t m, void* parts) const noexcept {
  if (m == 0) return Status::ok;
  WgmmaArguments a{};
  a.m = m, a.parts = parts;
  if (!takes(args, m)) return plain_ ? plain_->run(args, m) : Status::failed;
  place_epilogue(args, fused_.epilogue, a.epilogue);
  if (const Status::Code code = describe_operands(args, m, a); code != Status::ok) return code;
  const int64_t tiles = ceil_div(m, int64_t{tile_.rows()}) * ceil_div(fused_.gemm.n, int64_t{tile_.columns});
  return launch(queue_of(args), function_, {static_cast<unsigned>(std::min<int64_t>(tiles, processors_))},
                static_cast<unsigned>(tile_.threads()), static_cast<unsigned>(tile_.shared_bytes()), &a, start(m));
}

}  // namespace tenfold::backends::cuda
